import { Activity, FlaskConical, Inbox, type LucideIcon, MessagesSquare, Rows3, Settings, Workflow } from "lucide-react";
import type { Key } from "../i18n/i18n.ts";

/** The pages, in the order of the rail. `keys` is how to go there from the keyboard. */
export const PAGES: { id: string; path: string; label: Key; icon: LucideIcon; keys: string; here: RegExp }[] = [
  { id: "chat", path: "/", label: "shell.chat", icon: MessagesSquare, keys: "g c", here: /^\/($|t\/)/ },
  { id: "inbox", path: "/inbox", label: "shell.inbox", icon: Inbox, keys: "g i", here: /^\/inbox/ },
  { id: "threads", path: "/threads", label: "shell.threads", icon: Rows3, keys: "g t", here: /^\/threads/ },
  { id: "runs", path: "/runs", label: "shell.runs", icon: Activity, keys: "g r", here: /^\/runs/ },
  { id: "graph", path: "/graph", label: "shell.graph", icon: Workflow, keys: "g g", here: /^\/graph/ },
  { id: "playground", path: "/playground", label: "shell.playground", icon: FlaskConical, keys: "g p", here: /^\/playground/ },
  { id: "settings", path: "/settings", label: "shell.settings", icon: Settings, keys: "g s", here: /^\/settings/ },
];
