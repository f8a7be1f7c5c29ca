import { MoreHorizontal } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { usePending } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { Count } from "../ui/badge.tsx";
import { cx } from "../ui/cx.ts";
import { Sheet } from "../ui/dialog.tsx";
import { Tooltip } from "../ui/tooltip.tsx";
import { LanguageSwitch, ThemeSwitch } from "./controls.tsx";
import { Logo } from "./logo.tsx";
import { PAGES } from "./pages.ts";

/** The pages at the left. */
export function Rail() {
  const t = useT();
  const [here] = useLocation();
  const { total } = usePending({});
  return (
    <nav
      aria-label={t("shell.navigation")}
      className="hidden w-19 shrink-0 flex-col items-center gap-1 overflow-y-auto border-r border-line bg-surface py-3 md:flex"
    >
      <Link href="/" aria-label="Handback" className="mb-2 rounded-xl">
        <Logo className="size-9" />
      </Link>
      {PAGES.map(({ id, path, label, icon: Icon, keys, here: matches }) => {
        const current = matches.test(here);
        return (
          <Tooltip key={id} side="right" text={t(label)} hint={keys}>
            <Link
              href={path}
              aria-current={current ? "page" : undefined}
              className={cx(
                "relative flex w-16 flex-col items-center gap-0.5 rounded-xl px-1 py-2 text-2xs font-medium transition-colors",
                current ? "bg-accent-soft text-link" : "text-muted hover:bg-hover hover:text-fg",
                id === "settings" && "mt-auto",
              )}
            >
              <Icon aria-hidden className="size-5" strokeWidth={current ? 2.2 : 1.8} />
              {t(label)}
              {id === "inbox" && total > 0 && (
                <span className="absolute top-1 right-2">
                  <Count n={total} label={t("shell.pending", { n: total })} />
                </span>
              )}
            </Link>
          </Tooltip>
        );
      })}
    </nav>
  );
}

/** The same at the bottom of a narrow screen: three pages, and the rest behind "More". */
export function BottomBar() {
  const t = useT();
  const [here] = useLocation();
  const { total } = usePending({});
  const [more, setMore] = useState(false);
  const [first, rest] = [PAGES.slice(0, 3), PAGES.slice(3)];
  const look = (current: boolean) =>
    cx("relative flex flex-1 flex-col items-center gap-0.5 rounded-lg py-1.5 text-2xs font-medium", current ? "text-link" : "text-muted");
  return (
    <nav
      aria-label={t("shell.navigation")}
      className="flex shrink-0 border-t border-line bg-surface px-2 pt-1 pb-[max(0.25rem,env(safe-area-inset-bottom))] md:hidden"
    >
      {first.map(({ id, path, label, icon: Icon, here: matches }) => (
        <Link key={id} href={path} aria-current={matches.test(here) ? "page" : undefined} className={look(matches.test(here))}>
          <Icon aria-hidden className="size-5.5" />
          {t(label)}
          {id === "inbox" && total > 0 && (
            <span className="absolute top-0.5 left-1/2 ml-2">
              <Count n={total} label={t("shell.pending", { n: total })} />
            </span>
          )}
        </Link>
      ))}
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => setMore(true)}
        className={look(rest.some((page) => page.here.test(here)))}
      >
        <MoreHorizontal aria-hidden className="size-5.5" />
        {t("shell.more")}
      </button>
      <Sheet open={more} onClose={() => setMore(false)} title={t("shell.more")} className="h-auto! max-h-[80dvh]">
        <ul className="flex flex-col gap-1">
          {rest.map(({ id, path, label, icon: Icon }) => (
            <li key={id}>
              <Link
                href={path}
                onClick={() => setMore(false)}
                className="flex h-12 items-center gap-3 rounded-xl px-3 text-lg hover:bg-hover"
              >
                <Icon aria-hidden className="size-5 text-muted" />
                {t(label)}
              </Link>
            </li>
          ))}
        </ul>
        <div className="mt-3 flex gap-2 border-t border-line pt-4">
          <LanguageSwitch withText />
          <ThemeSwitch withText />
        </div>
      </Sheet>
    </nav>
  );
}
