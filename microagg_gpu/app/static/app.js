// What all pages share: requests, news of the server, repairs, tabs, quitting.

let leaving = false;

// What is clicked or typed before the scripts of the page have run would be lost, so nothing can
// be until then; the focus comes to the heading.
document.addEventListener("DOMContentLoaded", () => {
  document.body.inert = false;
  document.querySelector("#title").focus();
});

/** Go to another page of the app, without the question that closing the page asks. */
export function go(page) {
  leaving = true;
  location.assign(page);
}

/** Send a decision; true if it was taken. A problem is shown on the page. */
export async function post(page, body, raw = false) {
  let answer;
  try {
    answer = await fetch(page, { method: "POST", body: raw ? body : JSON.stringify(body ?? {}) });
  } catch {
    gone();
    return false;
  }
  if (answer.ok) return true;
  let text = "";
  try {
    text = (await answer.json()).problem;
  } catch {
    text = answer.status === 413 ? tooLarge : unknown;
  }
  show(text);
  return false;
}

const notice = (text) => `<div class="notice" role="alert"><p>${text}</p></div>`;
const tooLarge = notice("This file is too large to be dropped. Open it by its path.");
const unknown = notice("The request failed. Load the page again.");

/** Show a problem where the page has its state, or at its beginning. */
export function show(text) {
  const place = document.querySelector("#state, #part-status");
  if (place) place.innerHTML = text;
}

/** The text of a part of the page, as it is now. */
export async function part(name) {
  const answer = await fetch(`parts/${name}`);
  return answer.ok ? answer.text() : "";
}

/** Call a function at each news of the server, never twice at once. */
export function watch(refresh) {
  let running = false, again = false;
  async function run() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      await refresh();
    } while (again);
    running = false;
  }
  let last = document.body.dataset.version;
  const source = new EventSource("events");
  source.onmessage = (event) => {
    document.querySelector("#gone").hidden = true;
    const news = JSON.parse(event.data);
    working = news.busy === "protect";
    if (String(news.version) !== last) {
      last = String(news.version);
      run().catch(gone);
    }
  };
  source.onerror = () => {
    if (!leaving) setTimeout(() => source.readyState !== EventSource.OPEN && gone(), 1500);
  };
}

let working = false;

function gone() {
  if (!leaving) document.querySelector("#gone").hidden = false;
}

/** Put a text in the place of what an element holds, if it is another; keep what is open. */
export function put(element, text) {
  const made = document.createElement("template");
  made.innerHTML = text;
  if (element.dataset.shown === text) return;
  const open = [...element.querySelectorAll("details[open] > summary")].map((s) => s.textContent);
  const focus = element.contains(document.activeElement) ? document.activeElement.id : "";
  element.replaceChildren(made.content);
  element.dataset.shown = text;
  for (const summary of element.querySelectorAll("details > summary"))
    if (open.includes(summary.textContent)) summary.parentElement.open = true;
  if (focus) document.getElementById(focus)?.focus();
}

// Repairs, and ways back

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-format], [data-try]");
  if (!button) return;
  const [page, given] = button.dataset.format
    ? ["format", button.dataset.format]
    : ["try", button.dataset.try];
  if (!(await post(page, JSON.parse(given)))) return;
  if (page === "format") go("open?reading");
  else go("explore");
});

// Tabs: arrows move, as everywhere

for (const list of document.querySelectorAll('[role="tablist"]')) {
  const tabs = [...list.querySelectorAll('[role="tab"]')];
  const choose = (tab) => {
    for (const one of tabs) {
      const on = one === tab;
      one.setAttribute("aria-selected", on);
      one.tabIndex = on ? 0 : -1;
      document.getElementById(one.getAttribute("aria-controls")).hidden = !on;
    }
  };
  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    choose(next);
    next.focus();
  });
}

// Leaving

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (link && !link.target && !link.hasAttribute("download")) leaving = true;
});

addEventListener("beforeunload", (event) => {
  const undone = document.querySelector("[data-download]") && !sessionStorage.getItem("downloaded");
  if (!leaving && (working || undone)) event.preventDefault();
});

const dialog = document.querySelector("#quit-dialog");
document.querySelector("#quit").addEventListener("click", () => dialog.showModal());
document.querySelector("#quit-no").addEventListener("click", () => dialog.close());
document.querySelector("#quit-yes").addEventListener("click", async () => {
  leaving = true;
  dialog.close();
  if (await post("quit")) {
    const title = document.querySelector("#title");
    const main = document.querySelector("main");
    title.textContent = "The app has ended";
    const text = document.createElement("p");
    text.textContent = "Its files are removed. You can close this page.";
    main.replaceChildren(title, text);
    document.querySelector(".steps").replaceChildren();
    document.querySelector("#quit").remove();
    title.focus();
  }
});
