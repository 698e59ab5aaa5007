// Small pieces of page. Texts of users come into it as text only, never as HTML.

export function el(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k === "on") for (const [type, f] of Object.entries(v)) e.addEventListener(type, f);
    else if (k === "vars") for (const [n, value] of Object.entries(v)) e.style.setProperty(n, value);
    else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  append(e, children);
  return e;
}
function append(e, children) {
  for (const c of children.flat(Infinity)) if (c !== null && c !== undefined && c !== false) e.append(c);
}

/** Sets a text only where it is another one, so that screen readers and selections are left alone. */
export function text(e, value) {
  const s = value === null || value === undefined ? "" : String(value);
  if (e.textContent !== s) e.textContent = s;
}
export function attr(e, name, value) {
  if (value === null || value === undefined || value === false) { if (e.hasAttribute(name)) e.removeAttribute(name); }
  else { const s = value === true ? "" : String(value); if (e.getAttribute(name) !== s) e.setAttribute(name, s); }
}
export function fill(e, ...children) {
  e.replaceChildren();
  append(e, children);
  return e;
}

/**
 * Brings the children of an element in line with a list: each item has a key, what has the same key
 * stays the same element, so that nothing jumps and focus is kept.
 */
export function keyed(parent, items, key, make, update) {
  const known = parent.keyedBy || (parent.keyedBy = new Map());
  const wanted = new Set();
  let at = parent.firstElementChild;
  for (const item of items) {
    const k = String(key(item));
    wanted.add(k);
    let e = known.get(k);
    if (!e) { e = make(item); known.set(k, e); }
    update(e, item);
    if (e === at) at = at.nextElementSibling;
    else parent.insertBefore(e, at);
  }
  for (const [k, e] of known) if (!wanted.has(k)) { e.remove(); known.delete(k); }
}

/** What a list, a panel or a page shows while it has nothing else to show. */
export function state(kind, title, detail, ...more) {
  return el("div", { class: "state " + kind, role: kind === "error" ? "alert" : null },
    el("p", { class: "state-title" }, title), detail ? el("p", {}, detail) : null, more);
}
/** Grey bars of the size of what is on its way. */
export function skeleton(lines, label) {
  return el("div", { class: "skeleton", role: "status", "aria-label": label },
    Array.from({ length: lines }, () => el("div", { class: "bone", "aria-hidden": "true" })));
}

export function chip(kind, label) {
  return el("span", { class: "chip " + kind }, label);
}
export function button(label, press, more) {
  return el("button", { type: "button", ...more, on: { click: press } }, label);
}
export function panel(id, title, ...body) {
  return el("section", { class: "panel", id, "aria-labelledby": id + "-h" }, el("h2", { id: id + "-h" }, title), body);
}
/** Names and values beside each other. */
export function facts(pairs) {
  return el("dl", { class: "facts" }, pairs.filter((p) => p && p[1] !== null && p[1] !== undefined && p[1] !== "")
    .map(([name, value, title]) => el("div", { title }, el("dt", {}, name), el("dd", {}, value))));
}

/**
 * A question with its answers. Esc and the first button close it; focus goes back to where it was.
 *
 * @param ok {label, kind, press}: press may return a promise; its failure is shown in the dialog
 */
export function ask({ title, body, ok, cancel, onClose }) {
  const back = document.activeElement;
  const fault = el("p", { class: "fault", role: "alert", hidden: true });
  const yes = ok ? el("button", { type: "submit", class: ok.kind || "primary" }, ok.label) : null;
  const d = el("dialog", { "aria-labelledby": "dialog-h" });
  const form = el("form", { method: "dialog", novalidate: true },
    el("h2", { id: "dialog-h" }, title), el("div", { class: "dialog-body" }, body), fault,
    el("div", { class: "dialog-foot" }, button(cancel, () => d.close(), { class: "quiet" }), yes));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (yes.disabled) return;
    yes.disabled = true;
    fault.hidden = true;
    try {
      await ok.press();
      d.close();
    } catch (e) {
      text(fault, e.message);
      fault.hidden = false;
    } finally {
      yes.disabled = false;
    }
  });
  d.append(form);
  d.addEventListener("close", () => {
    d.remove();
    if (onClose) onClose();
    if (back && back.isConnected) back.focus();
  });
  document.body.append(d);
  d.showModal();
  const first = d.querySelector("input, select, textarea");
  if (first) first.focus();
  return d;
}

/** A word at the edge of the screen that goes away again; also for screen readers. */
export function say(sentence, kind) {
  text(document.getElementById("said"), sentence);
  const toast = el("div", { class: "toast " + (kind || ""), "aria-hidden": "true" }, sentence);
  document.body.append(toast);
  setTimeout(() => toast.remove(), 5000);
}

export function field(label, input, hint) {
  const id = input.id || "f" + Math.random().toString(36).slice(2);
  input.id = id;
  if (hint) input.setAttribute("aria-describedby", id + "-hint");
  return el("div", { class: "field" }, el("label", { for: id }, label), input,
    hint ? el("p", { class: "hint", id: id + "-hint" }, hint) : null);
}
