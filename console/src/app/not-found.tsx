import { Compass } from "lucide-react";
import { useLocation } from "wouter";
import { useT } from "../i18n/i18n.ts";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/skeleton.tsx";
import { Page } from "./page.tsx";

/** An address that is none of ours, or a thing that is gone. */
export function NotFound({ title, hint }: { title?: string; hint?: string }) {
  const t = useT();
  const [, go] = useLocation();
  const name = title ?? t("shell.notFound");
  return (
    <Page title={name}>
      <EmptyState
        icon={<Compass />}
        title={name}
        hint={hint ?? t("shell.notFoundHint")}
        action={
          <Button kind="primary" onClick={() => go("/")}>
            {t("shell.goHome")}
          </Button>
        }
      />
    </Page>
  );
}
