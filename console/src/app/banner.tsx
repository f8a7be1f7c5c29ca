import { CircleCheck, RefreshCw, WifiOff } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useActions, useConnection, usePending } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { cx } from "../ui/cx.ts";
import { useNow } from "../ui/time.tsx";
import { announce } from "./announce.tsx";

const PATIENCE_MS = 1_000;
const GOOD_NEWS_MS = 4_000;

/** Says that the connection is lost, and what was caught up when it is back. A blink is not worth a word. */
export function ConnectionBanner() {
  const t = useT();
  const connection = useConnection();
  const { total } = usePending({});
  const { retryConnection } = useActions();
  const [lost, setLost] = useState(false);
  const [back, setBack] = useState<string>();
  const wasLost = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: news come with the state, not with every count
  useEffect(() => {
    if (connection.state === "lost") {
      const timer = setTimeout(() => {
        wasLost.current = true;
        setLost(true);
        setBack(undefined);
      }, PATIENCE_MS);
      return () => clearTimeout(timer);
    }
    if (connection.state !== "live" || !(wasLost.current || connection.restarted)) return;
    wasLost.current = false;
    setLost(false);
    const news = connection.restarted ? t("shell.restarted", { n: total }) : t("shell.caughtUp", { n: connection.caughtUp });
    setBack(news);
    announce(news);
    const timer = setTimeout(() => setBack(undefined), GOOD_NEWS_MS);
    return () => clearTimeout(timer);
  }, [connection.state, connection.since, connection.restarted]);

  if (lost && connection.state !== "live")
    return (
      <Bar look="border-wait-line bg-wait-soft text-wait" icon={<WifiOff aria-hidden className="size-4" />}>
        <span role="alert" className="min-w-0 flex-1">
          {t("shell.lost")} <RetryIn at={connection.retryAt} />
        </span>
        <Button size="sm" icon={<RefreshCw aria-hidden className="size-3.5" />} onClick={() => retryConnection()}>
          {t("shell.retryNow")}
        </Button>
      </Bar>
    );
  if (back)
    return (
      <Bar look="border-good-line bg-good-soft text-good" icon={<CircleCheck aria-hidden className="size-4" />}>
        <span className="min-w-0 flex-1">{back}</span>
      </Bar>
    );
  return null;
}

function RetryIn({ at }: { at: number | undefined }) {
  const t = useT();
  const now = useNow();
  const seconds = Math.ceil(((at ?? 0) - now) / 1_000);
  return seconds > 0 ? t("shell.retryIn", { n: seconds }) : null;
}

function Bar({ look, icon, children }: { look: string; icon: ReactNode; children: ReactNode }) {
  return (
    <div data-testid="banner" className={cx("flex min-h-10 shrink-0 items-center gap-2.5 border-b px-4 py-1.5 text-sm font-medium", look)}>
      {icon}
      {children}
    </div>
  );
}
