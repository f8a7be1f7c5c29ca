import { toast } from "../app/toast.tsx";
import type { Translate } from "../i18n/i18n.ts";
import { saveFile } from "./save-file.ts";

/** Saves a thread's log as a file, or says why that did not work. */
export async function saveLog(threadId: string, load: (threadId: string) => Promise<Blob>, t: Translate): Promise<void> {
  try {
    saveFile(`${threadId.replaceAll("~", "-")}.jsonl`, await load(threadId));
  } catch (error) {
    toast({ text: t("chat.didNotWork", { why: error instanceof Error ? error.message : String(error) }), tone: "bad", ms: 10_000 });
  }
}
