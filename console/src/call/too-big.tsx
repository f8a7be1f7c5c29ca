import { Download } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { saveFile } from "./save-file.ts";

const MOST = 200_000;

/** Stands for what is too long to be drawn: its size, and a way to have it all the same. */
export function TooBig({ text, name, children }: { text: string; name: string; children: ReactNode }) {
  const t = useT();
  const [shown, setShown] = useState(false);
  if (text.length <= MOST || shown) return children;
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-sunken px-3.5 py-2.5 text-sm text-muted">
      {t("ui.tooBig", { size: `${Math.round(text.length / 1_000).toLocaleString()} KB` })}
      <Button size="sm" icon={<Download aria-hidden className="size-3.5" />} onClick={() => saveFile(name, text)}>
        {t("ui.download")}
      </Button>
      <Button size="sm" kind="ghost" onClick={() => setShown(true)}>
        {t("ui.expand")}
      </Button>
    </div>
  );
}
