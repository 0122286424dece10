import { memo } from "react";
import { Checkbox } from "./Checkbox";
import css from "./DataTable.module.css";
import { Icon } from "./Icon";

/** A column of a DataTable. */
export interface Column<R> {
  id: string;
  head: React.ReactNode;
  cell: (row: R) => React.ReactNode;
  /** In px, or a share of what is left, such as `"2fr"`; `"1fr"` unless said. */
  width?: number | `${number}fr`;
  /** The least width of a share, in px; 80 unless said. */
  min?: number;
  /** Numbers stand at the right, their digits below each other. */
  align?: "right";
  /** How the rows are sorted by this column now. */
  sort?: "asc" | "desc" | undefined;
  /** Makes the head a button that sorts. */
  onSort?: () => void;
  /** What the column means, on hover. */
  title?: string;
}

/** The head of a column. */
export function HeadCell<R>({ column }: { column: Column<R> }) {
  const { head, align, sort, onSort, title } = column;
  return (
    <div role="columnheader" className={css["headCell"]} data-align={align} title={title} aria-sort={sort === "asc" ? "ascending" : sort === "desc" ? "descending" : undefined}>
      {onSort ? (
        <button type="button" className={css["sort"]} onClick={onSort}>
          <span className={css["headText"]}>{head}</span>
          <span className={css["arrow"]}>{sort && <Icon name={sort === "asc" ? "up" : "down"} size={10} />}</span>
        </button>
      ) : (
        <span className={css["headText"]}>{head}</span>
      )}
    </div>
  );
}

interface RowProps<R> {
  row: R;
  columns: readonly Column<R>[];
  index: number;
  top: number;
  height: number;
  template: string;
  tabbable: boolean;
  selected: boolean | undefined;
  current: boolean;
  opens: boolean;
}

function Row<R>({ row, columns, index, top, height, template, tabbable, selected, current, opens }: RowProps<R>) {
  return (
    <div
      role="row"
      className={css["row"]}
      data-index={index}
      data-current={current || undefined}
      data-opens={opens || undefined}
      tabIndex={tabbable ? 0 : -1}
      aria-rowindex={index + 2}
      aria-selected={selected}
      aria-current={current || undefined}
      style={{ gridTemplateColumns: template, height, transform: `translateY(${top}px)` }}
    >
      {selected !== undefined && (
        <div role="gridcell" className={css["choose"]} data-choose>
          <Checkbox bare label={`Select row ${index + 1}`} checked={selected} onChange={ignore} />
        </div>
      )}
      {columns.map((c) => (
        <div key={c.id} role="gridcell" className={css["cell"]} data-align={c.align}>
          {c.cell(row)}
        </div>
      ))}
    </div>
  );
}

/** The table hears the click itself, because only it knows whether Shift was held. */
const ignore = () => {};

/** A row, drawn again only when what it shows has changed. */
export const TableRow = memo(Row) as typeof Row; // memo loses the type parameter
