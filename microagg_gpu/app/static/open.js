// Open: a file that is dropped, chosen or named, or the sample.
import { go, part, post, put, watch } from "./app.js";

const state = document.querySelector("#state");
const drop = document.querySelector("#drop");
const input = document.querySelector("#file");
let waiting = location.search === "?reading" || state.querySelector(".busy") !== null;

async function refresh() {
  const text = await part("opening");
  put(state, text);
  const next = state.querySelector("[data-next]");
  if (waiting && next) go(next.dataset.next);
  if (state.querySelector(".notice")) waiting = false;
}

async function send(page, body, raw = false) {
  waiting = true;
  put(state, '<div class="card busy"><p>Reading…</p><progress aria-label="Reading"></progress></div>');
  if (await post(page, body, raw)) await refresh();
  else waiting = false;
}

const upload = (file) => send(`upload?name=${encodeURIComponent(file.name)}`, file, true);

document.querySelector("#choose").addEventListener("click", () => input.click());
input.addEventListener("change", () => input.files[0] && upload(input.files[0]));
document.querySelector("#sample").addEventListener("click", () => send("sample"));
document.querySelector("#by-path").addEventListener("submit", (event) => {
  event.preventDefault();
  send("path", { path: document.querySelector("#path").value });
});
for (const kind of ["dragenter", "dragover"])
  addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
addEventListener("dragleave", (event) => event.relatedTarget ?? drop.classList.remove("over"));
addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  const file = event.dataTransfer.files[0];
  if (file) upload(file);
});
watch(refresh);
if (waiting) refresh();
