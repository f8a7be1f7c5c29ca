import { lazy, Suspense } from "react";
import { Route, Router, Switch, useLocation } from "wouter";
import { useT } from "../i18n/i18n.ts";
import { SkeletonRows } from "../ui/skeleton.tsx";
import { LiveRegion } from "./announce.tsx";
import { ConnectionBanner } from "./banner.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { Gate } from "./gate.tsx";
import { closeLayer, openPalette, openShortcuts, useLayer } from "./layers.ts";
import { NotFound } from "./not-found.tsx";
import { Notifier } from "./notifier.tsx";
import { PAGES } from "./pages.ts";
import { BASE } from "./place.ts";
import { BottomBar, Rail } from "./rail.tsx";
import { Shortcuts } from "./shortcuts.tsx";
import { Toasts } from "./toast.tsx";
import { useKeys } from "./use-keys.ts";

const Chat = lazy(() => import("../pages/chat/chat-page.tsx"));
const Inbox = lazy(() => import("../pages/inbox/inbox-page.tsx"));
const Threads = lazy(() => import("../pages/threads/threads-page.tsx"));
const Runs = lazy(() => import("../pages/runs/runs-page.tsx"));
const Run = lazy(() => import("../pages/runs/run-page.tsx"));
const Graph = lazy(() => import("../pages/graph/graph-page.tsx"));
const Playground = lazy(() => import("../pages/playground/playground-page.tsx"));
const Settings = lazy(() => import("../pages/settings/settings-page.tsx"));
const Palette = lazy(() => import("./palette.tsx"));

/** The whole page. */
export function App() {
  return (
    <Router base={BASE}>
      <Gate>
        <Shell />
      </Gate>
      <LiveRegion />
    </Router>
  );
}

/** What stays while pages change. */
function Shell() {
  const t = useT();
  const [here, go] = useLocation();
  const layer = useLayer();
  useKeys({
    "mod+k": openPalette,
    "?": openShortcuts,
    n: () => go("/"),
    "/": () => go("/threads"),
    ...Object.fromEntries(PAGES.map(({ keys, path }) => [keys, () => go(path)])),
  });
  return (
    <div className="flex h-full flex-col md:flex-row">
      <button
        type="button"
        onClick={skip}
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-lg bg-accent px-4 py-2 text-on-accent focus:translate-y-0"
      >
        {t("shell.skip")}
      </button>
      <Rail />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <ConnectionBanner />
        <ErrorBoundary name={here}>
          <Suspense fallback={<PageSkeleton />}>
            <Switch>
              <Route path="/">
                <Chat key="new" />
              </Route>
              <Route path="/t/:id">{({ id }) => <Chat key={id} threadId={decoded(id)} />}</Route>
              <Route path="/inbox/:call?">{({ call }) => <Inbox {...(call && { callId: decoded(call) })} />}</Route>
              <Route path="/threads">
                <Threads />
              </Route>
              <Route path="/runs">
                <Runs />
              </Route>
              <Route path="/runs/:id">{({ id }) => <Run key={id} runId={decoded(id)} />}</Route>
              <Route path="/graph">
                <Graph />
              </Route>
              <Route path="/playground">
                <Playground />
              </Route>
              <Route path="/settings">
                <Settings />
              </Route>
              <Route>
                <NotFound />
              </Route>
            </Switch>
          </Suspense>
        </ErrorBoundary>
      </div>
      <BottomBar />
      <Toasts />
      <Notifier />
      <Shortcuts open={layer === "shortcuts"} onClose={closeLayer} />
      {layer === "palette" && (
        <Suspense>
          <Palette onClose={closeLayer} />
        </Suspense>
      )}
    </div>
  );
}

function skip(): void {
  document.getElementById("content")?.focus();
}

/** Ids may contain anything, a slash among it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function PageSkeleton() {
  const t = useT();
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="h-13 shrink-0 border-b border-line bg-surface" />
      <SkeletonRows label={t("ui.loading")} className="p-6" />
    </div>
  );
}
