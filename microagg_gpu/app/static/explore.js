// Explore: settings are sent as they change; figures come when they are computed.
import { go, part, post, put, watch } from "./app.js";

const form = document.querySelector("#choices");
const k = document.querySelector("#k");
const typed = document.querySelector("#k-number");
let variable = 0;

async function refresh() {
  const text = await part("explore");
  if (!form) {
    if (text.includes("data-most")) go("explore");
    else if (text) put(document.querySelector("#waiting"), text);
    return;
  }
  const made = document.createElement("template");
  made.innerHTML = text;
  for (const piece of made.content.querySelectorAll("[data-part]")) {
    const place = document.querySelector(`#part-${piece.dataset.part}`);
    if (place) put(place, piece.innerHTML);
  }
  const most = made.content.querySelector("[data-most]")?.dataset.most;
  if (most) k.max = Math.max(3, Math.min(most, Math.max(30, k.value)));
  showVariable();
}

function showVariable() {
  const select = document.querySelector("#variable");
  if (!select) return;
  variable = Math.min(variable, select.options.length - 1);
  select.selectedIndex = variable;
  for (const pane of document.querySelectorAll("[data-variable]"))
    pane.hidden = Number(pane.dataset.variable) !== variable;
}

function choices() {
  const given = { k: Number(typed.value) };
  for (const field of form.querySelectorAll("select")) given[field.name] = field.value;
  for (const field of form.querySelectorAll("input[type=checkbox]"))
    given[field.name] = field.checked;
  return given;
}

let timer = 0;
function send(delay) {
  clearTimeout(timer);
  document.querySelector("#part-live > div")?.classList.add("stale");
  timer = setTimeout(() => post("try", choices()), delay);
}

if (form) {
  k.addEventListener("input", () => {
    typed.value = k.value;
    send(200);
  });
  typed.addEventListener("input", () => {
    if (!typed.checkValidity() || !typed.value) return;
    k.value = typed.value;
    send(500);
  });
  for (const field of form.querySelectorAll("select, input[type=checkbox]"))
    field.addEventListener("change", () => send(0));
  form.addEventListener("submit", (event) => event.preventDefault());
  document.querySelector("#protect").addEventListener("click", async () => {
    clearTimeout(timer);
    if ((await post("try", choices())) && (await post("protect"))) go("protect");
  });
}
document.addEventListener("change", (event) => {
  if (event.target.id !== "variable") return;
  variable = event.target.selectedIndex;
  showVariable();
});
document.addEventListener("click", async (event) => {
  const back = event.target.closest("[data-back]");
  if (back && (await post("back", { try: Number(back.dataset.back) }))) go("explore");
});
watch(refresh);
refresh();
