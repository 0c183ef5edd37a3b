// Protect: the phases as they go on, and Cancel.
import { go, part, post, put, watch } from "./app.js";

const state = document.querySelector("#state");
const said = document.querySelector("#said");
let spoken = "";

async function refresh() {
  put(state, await part("protect"));
  const next = state.querySelector("[data-next]");
  if (next) go(next.dataset.next);
  // Screen readers hear each phase once, not each percent.
  const phase = state.querySelector("[data-phase]")?.dataset.phase ?? "";
  if (phase && phase !== spoken) said.textContent = spoken = phase;
}

state.addEventListener("click", async (event) => {
  if (event.target.id !== "cancel") return;
  event.target.disabled = true;
  await post("cancel");
  await refresh();
});
watch(refresh);
refresh();
setInterval(() => state.querySelector(".busy") && refresh(), 1000);
