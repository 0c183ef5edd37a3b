// Result: what was downloaded need not be asked about, and texts can be copied.
import { watch } from "./app.js";

sessionStorage.removeItem("downloaded");
for (const link of document.querySelectorAll("[data-download]"))
  link.addEventListener("click", () => sessionStorage.setItem("downloaded", "yes"));
for (const button of document.querySelectorAll("[data-copy]"))
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy);
    const copied = document.querySelector("#copied");
    try {
      await navigator.clipboard.writeText(text.textContent);
      copied.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(text);
      copied.textContent = "Selected: copy it with Ctrl-C.";
    }
  });
watch(() => {});
