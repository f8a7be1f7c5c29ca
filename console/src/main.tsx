import { createRoot } from "react-dom/client";
import { App } from "./app/app.tsx";
import { loadLanguage } from "./i18n/i18n.ts";
import "./style.css";

const root = document.getElementById("root");
if (!root) throw new Error("The page has no root");
await loadLanguage();
createRoot(root).render(<App />);
