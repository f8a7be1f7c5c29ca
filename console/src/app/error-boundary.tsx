import { TriangleAlert } from "lucide-react";
import { Component, type ReactNode } from "react";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";

/** Keeps what breaks on a page from breaking the others. `name` is what changes when the page does: then it is tried again. */
export class ErrorBoundary extends Component<{ name: string; children: ReactNode }, { error: Error | undefined; name: string }> {
  override state: { error: Error | undefined; name: string } = { error: undefined, name: this.props.name };

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps({ name }: { name: string }, state: { error: Error | undefined; name: string }) {
    return name === state.name ? null : { error: undefined, name };
  }

  override render() {
    return this.state.error ? <Broken error={this.state.error} /> : this.props.children;
  }
}

function Broken({ error }: { error: Error }) {
  const t = useT();
  const details = `${error.stack ?? error.message}\n${location.href}\n${navigator.userAgent}`;
  return (
    <main id="content" className="flex flex-1 items-center justify-center p-6">
      <div role="alert" className="flex max-w-lg flex-col items-center gap-2 text-center">
        <TriangleAlert aria-hidden className="mb-1 size-8 text-bad" />
        <h1 className="text-xl font-semibold">{t("shell.broken")}</h1>
        <p className="text-muted">{t("shell.brokenHint")}</p>
        <p className="mt-1 max-w-full rounded-lg border border-line bg-sunken px-3 py-2 font-mono text-xs [overflow-wrap:anywhere]">
          {error.message}
        </p>
        <div className="mt-3 flex gap-2">
          <Button kind="primary" onClick={() => location.reload()}>
            {t("shell.reload")}
          </Button>
          <CopyButton withText size="md" label={t("shell.copyDetails")} text={details} />
        </div>
      </div>
    </main>
  );
}
