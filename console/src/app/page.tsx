import { PanelRight } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import { usePending } from "../data/hooks.ts";
import { useT } from "../i18n/i18n.ts";
import { IconButton } from "../ui/button.tsx";
import { Controls } from "./controls.tsx";
import { Dock, type DockPanels, useDock } from "./dock.tsx";

type Props = {
  /** The page's only h1, and the document's title. */
  title: string;
  /** Another element in place of the plain title, such as one that can be renamed; it must contain the h1. */
  heading?: ReactNode;
  status?: ReactNode;
  actions?: ReactNode;
  dock?: DockPanels | undefined;
  children: ReactNode;
};

/** A page: its header, what it shows, and the dock beside it if it has one. `children` fill the height and scroll by themselves. */
export function Page({ title, heading, status, actions, dock, children }: Props) {
  useTitle(title);
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <header className="flex h-13 shrink-0 items-center gap-3 border-b border-line bg-surface px-4">
        {heading ?? <h1 className="min-w-0 truncate text-lg font-semibold">{title}</h1>}
        {status}
        <div className="flex-1" />
        {actions}
        <Controls />
        {dock && <DockButton panels={dock} />}
      </header>
      <div className="flex min-h-0 flex-1">
        <main id="content" tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
          {children}
        </main>
        {dock && <Dock panels={dock} />}
      </div>
    </div>
  );
}

function DockButton({ panels }: { panels: DockPanels }) {
  const t = useT();
  const { open, show, close, last } = useDock(panels);
  return (
    <IconButton
      label={t(open === undefined ? "shell.openPanel" : "shell.closePanel")}
      pressed={open !== undefined}
      icon={<PanelRight aria-hidden className="size-4.5" />}
      onClick={() => (open === undefined ? show(last) : close())}
    />
  );
}

/** `(3) Inbox · Handback`: how many calls wait is seen in the tab. */
function useTitle(title: string): void {
  const { total } = usePending({});
  useEffect(() => {
    document.title = `${total > 0 ? `(${total}) ` : ""}${title} · Handback`;
  }, [title, total]);
}
