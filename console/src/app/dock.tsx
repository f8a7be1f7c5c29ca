import { X } from "lucide-react";
import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from "react";
import { useT } from "../i18n/i18n.ts";
import { IconButton } from "../ui/button.tsx";
import { Sheet } from "../ui/dialog.tsx";
import { type Tab, Tabs } from "../ui/tabs.tsx";
import { prefer, usePreferences } from "./preferences.ts";
import { useKeys } from "./use-keys.ts";
import { useMedia, WIDE } from "./use-media.ts";
import { useParam } from "./use-param.ts";

/** What the dock can show, and how. */
export type DockPanels = { tabs: Tab[]; render: (id: string) => ReactNode };

const CLOSED = "none";
const [NARROWEST, WIDEST] = [300, 960];

/** Which panel is open. The URL says it; where it is silent, wide screens open the last one and narrow ones none. */
export function useDock({ tabs }: DockPanels) {
  const [param, setParam] = useParam("dock");
  const wide = useMedia("(min-width: 1200px)");
  const { dock } = usePreferences();
  const known = (id: string | undefined) => tabs.find((tab) => tab.id === id)?.id;
  const last = known(dock) ?? tabs[0]?.id ?? "";
  return {
    open: param === CLOSED ? undefined : (known(param) ?? (wide && dock !== CLOSED ? last : undefined)),
    last,
    show(id: string) {
      prefer({ dock: id });
      setParam(id);
    },
    close() {
      prefer({ dock: CLOSED });
      setParam(CLOSED);
    },
  };
}

/** Beside the page, with a width of the reader's choice; a sheet where there is no room. */
export function Dock({ panels }: { panels: DockPanels }) {
  const t = useT();
  const { open, show, close } = useDock(panels);
  const beside = useMedia(WIDE);
  const step = (by: number) => {
    const index = panels.tabs.findIndex(({ id }) => id === open);
    const next = panels.tabs.at((index + by + panels.tabs.length) % panels.tabs.length);
    if (next) show(next.id);
  };
  useKeys({ "]": () => step(1), "[": () => step(-1) });
  if (open === undefined) return null;
  const tabs = (
    <Tabs
      tabs={panels.tabs}
      value={open}
      onChange={show}
      label={t("shell.panel")}
      className="h-full"
      panelClassName="flex flex-col overflow-hidden"
      after={<IconButton size="sm" className="mr-2" label={t("shell.closePanel")} icon={<X className="size-4" />} onClick={close} />}
    >
      {panels.render(open)}
    </Tabs>
  );
  if (!beside)
    return (
      <Sheet bare open onClose={close} title={t("shell.panel")}>
        {tabs}
      </Sheet>
    );
  return <Beside>{tabs}</Beside>;
}

function Beside({ children }: { children: ReactNode }) {
  const t = useT();
  const { dockWidth } = usePreferences();
  const [dragged, setDragged] = useState<number>();
  const fit = (width: number) => Math.round(Math.min(Math.max(width, NARROWEST), WIDEST, innerWidth - 480));
  const width = fit(dragged ?? dockWidth);
  const drag = (event: PointerEvent) => {
    if (event.buttons === 1) setDragged(innerWidth - event.clientX);
  };
  const drop = () => {
    if (dragged !== undefined) prefer({ dockWidth: fit(dragged) });
    setDragged(undefined);
  };
  const press = ({ key }: KeyboardEvent) => {
    if (key === "ArrowLeft") prefer({ dockWidth: fit(width + 24) });
    if (key === "ArrowRight") prefer({ dockWidth: fit(width - 24) });
  };
  return (
    <aside aria-label={t("shell.panel")} style={{ width }} className="relative min-w-0 shrink-0 bg-surface">
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label={t("shell.resizePanel")}
        aria-valuenow={width}
        aria-valuemin={NARROWEST}
        aria-valuemax={WIDEST}
        tabIndex={0}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onPointerUp={drop}
        onPointerCancel={drop}
        onKeyDown={press}
        className="group absolute inset-y-0 -left-1.5 z-10 w-3 cursor-col-resize touch-none outline-none"
      >
        <span className="absolute inset-y-0 left-1.5 w-px bg-line transition-colors group-hover:w-0.5 group-hover:bg-accent group-focus-visible:w-0.5 group-focus-visible:bg-accent group-active:bg-accent" />
      </div>
      {children}
    </aside>
  );
}
