// Columns: each change is sent, and what it means comes back.
import { go, part, post, put, watch } from "./app.js";

const state = document.querySelector("#state");
const selects = [...document.querySelectorAll("[data-column]")];
const orders = [...document.querySelectorAll("[data-order]")];

async function refresh() {
  put(state, await part("columns"));
  const summary = document.querySelector("#new-summary");
  if (summary) document.querySelector("#summary").textContent = summary.textContent;
}

function send() {
  return post("roles", {
    roles: Object.fromEntries(selects.map((select) => [select.dataset.column, select.value])),
    orders: Object.fromEntries(orders.map((input) => [input.dataset.order, input.value])),
  });
}

for (const select of selects)
  select.addEventListener("change", () => {
    select.className = `r-${select.value}`;
    const order = select.closest("td").querySelector(".order");
    if (order) order.hidden = select.value !== "ordinal";
    send();
  });
for (const input of orders) input.addEventListener("change", send);
document.querySelector("#next").addEventListener("click", async () => {
  if (await send()) go("explore");
});
watch(refresh);
