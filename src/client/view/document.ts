import type { Json } from "../../core/json.ts";
import type { CallView, ThreadView } from "./view.ts";

// What an agent says between these two calls is a document beside the conversation (seed 003).
const OPENING = "open_report_document";
const CLOSING = "close_report_document";

export function isOpening(name: string): boolean {
  return name === OPENING;
}

export function isClosing(name: string): boolean {
  return name === CLOSING;
}

/** Shows the document as soon as the model begins to ask for it. */
export function openDocument(view: ThreadView, { id, seq, run, turnId }: CallView, at: number): ThreadView {
  const document = { id, title: "", text: "", state: "streaming" as const, seq, run, turnId, openedAt: at, closedAt: undefined };
  return { ...view, documents: view.documents.set(id, document) };
}

/** From now on texts go into it. One that is still open is complete. */
export function writeDocument(view: ThreadView, id: string, input: Json, at: number): ThreadView {
  const closed = closeDocument(view, at);
  const document = closed.documents.get(id);
  if (!document) return closed;
  return { ...closed, writing: id, documents: closed.documents.set(id, { ...document, title: titleIn(input) }) };
}

function titleIn(input: Json): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return "";
  const title = input["title"] ?? input["name"];
  return typeof title === "string" ? title : "";
}

export function closeDocument(view: ThreadView, at: number): ThreadView {
  const document = view.writing === undefined ? undefined : view.documents.get(view.writing);
  if (!document) return view;
  return { ...view, writing: undefined, documents: view.documents.set(document.id, { ...document, state: "done", closedAt: at }) };
}

/** It could not be opened, so nothing goes into it. */
export function dropDocument(view: ThreadView, id: string, at: number): ThreadView {
  const document = view.documents.get(id);
  if (!document) return view;
  return {
    ...view,
    writing: view.writing === id ? undefined : view.writing,
    documents: view.documents.set(id, { ...document, state: "cut", closedAt: at }),
  };
}
