import { ShieldCheck } from "lucide-react";
import { Link } from "wouter";
import { announce } from "../../app/announce.tsx";
import { to } from "../../app/place.ts";
import { toast } from "../../app/toast.tsx";
import { useActions, useGrants } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { EmptyState, SkeletonRows } from "../../ui/skeleton.tsx";
import { RelativeTime } from "../../ui/time.tsx";

/** What may run without asking again, and since when. Each can be taken back. */
export function Grants() {
  const t = useT();
  const { grants, loading, reload } = useGrants();
  const { revoke } = useActions();
  const take = async (id: string, tool: string) => {
    const { ok } = await revoke(id);
    if (ok) announce(t("settings.revoked", { tool }));
    else toast({ text: t("settings.revokeFailed", { tool }), tone: "bad" });
    reload();
  };
  return (
    <Section title={t("settings.grants")} hint={t("settings.grantsHint")}>
      {loading ? (
        <SkeletonRows rows={3} label={t("ui.loading")} />
      ) : grants.length === 0 ? (
        <EmptyState icon={<ShieldCheck />} title={t("settings.noGrants")} hint={t("settings.noGrantsHint")} />
      ) : (
        <ul className="flex flex-col divide-y divide-line rounded-lg border border-line">
          {grants.map(({ id, tool, threadId, user, createdAt, by }) => (
            <li key={id} className="flex min-h-14 flex-wrap items-center gap-x-4 gap-y-1 px-3.5 py-2">
              <div className="min-w-0 flex-1">
                <code className="font-mono text-sm font-semibold">{tool}</code>
                <p className="text-sm text-muted">
                  {threadId === undefined ? (
                    t("settings.everyThread")
                  ) : (
                    <>
                      {t("settings.inThread")}{" "}
                      <Link className="text-link underline underline-offset-2" href={to.chat(threadId, { user })}>
                        {threadId}
                      </Link>
                    </>
                  )}
                  {" · "}
                  {t("settings.grantedBy", { by })} <RelativeTime at={createdAt} />
                </p>
              </div>
              <Button size="sm" kind="danger" aria-label={t("settings.revokeTool", { tool })} onClick={() => void take(id, tool)}>
                {t("settings.revoke")}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
