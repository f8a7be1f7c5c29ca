import { History } from "lucide-react";
import type { useReplay } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";

/** Says that the page shows the past, and leads back. */
export function ReplayBar({ replay }: { replay: ReturnType<typeof useReplay> }) {
  const t = useT();
  if (replay.live) return null;
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-3 border-b border-info-line bg-info-soft px-4 py-2 text-sm text-info">
      <History aria-hidden className="size-4" />
      {t("chat.past", { n: replay.seq ?? 0, all: replay.last })}
      <Button size="sm" onClick={() => replay.seek("live")}>
        {t("chat.backToLive")}
      </Button>
    </div>
  );
}
