import { useParam } from "../../app/use-param.ts";
import { toolOf, usePending } from "../../data/hooks.ts";
import { useT } from "../../i18n/i18n.ts";
import { Select } from "../../ui/field.tsx";

const OWNERS = ["human", "browser", "external"] as const;

/** Whose calls, and which tool's. Both are in the URL. */
export function Filters() {
  const t = useT();
  const [owner = "", setOwner] = useParam("owner");
  const [tool = "", setTool] = useParam("tool");
  const tools = [...new Set(usePending({}).calls.map(toolOf))].sort();
  return (
    <div className="flex gap-2 border-b border-line p-2.5">
      <Select aria-label={t("inbox.owner")} value={owner} onChange={(event) => setOwner(event.target.value)}>
        <option value="">{t("inbox.anyOwner")}</option>
        {OWNERS.map((each) => (
          <option key={each} value={each}>
            {t(`status.${each}`)}
          </option>
        ))}
      </Select>
      <Select aria-label={t("inbox.tool")} value={tool} onChange={(event) => setTool(event.target.value)}>
        <option value="">{t("inbox.anyTool")}</option>
        {[...new Set([...tools, ...(tool ? [tool] : [])])].map((each) => (
          <option key={each}>{each}</option>
        ))}
      </Select>
    </div>
  );
}
