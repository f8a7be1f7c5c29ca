import { type FormEvent, useState } from "react";
import { setToken, useToken } from "../../app/token.ts";
import { useT } from "../../i18n/i18n.ts";
import { Button } from "../../ui/button.tsx";
import { Section } from "../../ui/card.tsx";
import { Field, TextInput } from "../../ui/field.tsx";

/** The key this tab speaks with. It is never shown again. */
export function Access() {
  const t = useT();
  const token = useToken();
  const [key, setKey] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() === "") return;
    setToken(key.trim());
    setKey("");
  };
  return (
    <Section title={t("settings.access")} hint={t("settings.accessHint")}>
      <div className="flex flex-col gap-4">
        <p>{t(token === undefined ? "settings.withoutKey" : "settings.withKey")}</p>
        <form onSubmit={submit} className="flex max-w-md flex-col gap-3">
          <Field label={t("shell.key")} hint={t("settings.keyHint")}>
            {(ids) => (
              <TextInput
                {...ids}
                type="password"
                autoComplete="off"
                spellCheck={false}
                value={key}
                onChange={(event) => setKey(event.target.value)}
              />
            )}
          </Field>
          <div className="flex gap-2">
            <Button type="submit" kind="primary" disabled={key.trim() === ""}>
              {t("settings.useKey")}
            </Button>
            {token !== undefined && (
              <Button kind="danger" onClick={() => setToken(undefined)}>
                {t("settings.forgetKey")}
              </Button>
            )}
          </div>
        </form>
      </div>
    </Section>
  );
}
