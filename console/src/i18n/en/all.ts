import { call } from "./call.ts";
import { chat } from "./chat.ts";
import { dock } from "./dock.ts";
import { graph } from "./graph.ts";
import { inbox } from "./inbox.ts";
import { playground } from "./playground.ts";
import { runs } from "./runs.ts";
import { settings } from "./settings.ts";
import { shell } from "./shell.ts";
import { status } from "./status.ts";
import { threads } from "./threads.ts";
import { ui } from "./ui.ts";

/** Every text of the console. One file for each page, so that pages do not get in each other's way. */
export const en = { shell, ui, status, call, chat, dock, inbox, threads, runs, graph, playground, settings };
