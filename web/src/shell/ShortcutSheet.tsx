import { Dialog } from "../ui/Dialog";
import { useShortcutList } from "../ui/shortcuts";
import css from "./ShortcutSheet.module.css";

const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** Keys that components have by themselves. */
const fixed = [
  {
    group: "Tables",
    list: [
      { key: "↑ ↓", name: "Move" },
      { key: "Enter", name: "Open" },
      { key: "Space", name: "Select; with Shift a range" },
      { key: "mod+a", name: "Select all" },
      { key: "/", name: "Search" },
    ],
  },
];

const face = (key: string): string[] => key.split(" ").map((k) => k.replace("mod+", mac ? "⌘" : "Ctrl ").replace(/(Ctrl |⌘)(.)$/, (_, m: string, c: string) => m + c.toUpperCase()));

/** All shortcuts that are there now. */
export default function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const found = useShortcutList();
  // What the screen has comes first: it was registered last.
  const names = [...new Set(found.map((g) => g.group).reverse())];
  const groups = names.map((group) => ({ group, list: found.filter((g) => g.group === group).flatMap((g) => g.list) }));
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <div className={css["groups"]}>
        {[...groups, ...fixed].map((g) => (
          <section key={g.group}>
            <h3>{g.group}</h3>
            <dl className={css["list"]}>
              {g.list.map((s) => (
                <div key={s.key}>
                  <dt>
                    {face(s.key).map((k) => (
                      <kbd key={k}>{k}</kbd>
                    ))}
                  </dt>
                  <dd>{s.name}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
