import { useNavigate } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { shortcuts } from "../ui/shortcuts";
import { openShell } from "./dialogs";
import { places } from "./nav";

/** The page's own shortcuts: the palette, the sheet, and `g` with a place's key. `on` false takes them away. */
export function useGlobalShortcuts(on: boolean): void {
  const navigate = useNavigate();
  const go = useEffectEvent((to: string) => void navigate({ to }));
  useEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent) => {
      if (shortcuts.press(event)) event.preventDefault();
    };
    document.addEventListener("keydown", press);
    const ends = [
      shortcuts.add("Everywhere", [
        { key: "mod+k", name: "Command palette", action: () => openShell("palette") },
        { key: "?", name: "Shortcuts", action: () => openShell("shortcuts") },
      ]),
      shortcuts.add(
        "Go to",
        places.flatMap((g) => g.places).flatMap((p) => (p.key ? [{ key: `g ${p.key}`, name: p.name, action: () => go(p.to) }] : [])),
      ),
    ];
    return () => {
      document.removeEventListener("keydown", press);
      for (const end of ends) end();
    };
  }, [on]);
}
