import { MiniMap, ReactFlow, ReactFlowProvider } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useEffect, useEffectEvent, useMemo, useRef, useState } from "react";
import type { Schemas } from "../api/client";
import { Button } from "../ui/Button";
import { Loading } from "../ui/Notice";
import { toneOf } from "../ui/states";
import { isJoint, type Drawing } from "./condense";
import { SpotlightContext } from "./context";
import type { Facts } from "./facts";
import { related, walk, ways, type Direction } from "./focus";
import { Hint, useHint } from "./Hint";
import { JointNode } from "./JointNode";
import { Legend } from "./Legend";
import { Links, LitLinks, type Drawn } from "./Links";
import { litLinks } from "./lit";
import { looks } from "./looks";
import { NodeMaker, type GraphNode } from "./nodes";
import { shapeOf, waysOf, type Layout } from "./shape";
import { Spotlight, zoomOf } from "./spotlight";
import css from "./StageGraph.module.css";
import { StageNode } from "./StageNode";
import { maxZoom, minZoom, useCamera } from "./useCamera";
import { useLayout } from "./useLayout";

export interface StageGraphProps {
  /** What the graph is called for screen readers. */
  label: string;
  stages: readonly Schemas["GraphStage"][];
  /** Names the graph for good, such as `flow@version`: what has the same key is laid out once. */
  layoutKey: string;
  /** A run's stages by name; without them the flow itself is drawn. Objects that did not change must stay the same. */
  statuses?: ReadonlyMap<string, Schemas["StageStatus"]> | undefined;
  facts?: ReadonlyMap<string, Facts> | undefined;
  selected?: string | undefined;
  onSelect?: ((stage: string | undefined) => void) | undefined;
  /** The stage whose upstreams and downstreams are lit, the others dimmed. */
  focus?: string | undefined;
  onFocus?: ((stage: string | undefined) => void) | undefined;
}

const nodeTypes = { stage: StageNode, joint: JointNode };
const arrows: Record<string, Direction> = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
/** The library draws the map for the size that it is told, so that size cannot stand in a style sheet only. */
const mapSize = { width: 168, height: 108 };
/** Graphs up to so many stages are seen as a whole, without a map. */
const small = 8;

/** Graphs of up to so many boxes are drawn as a whole, wherever the reader looks. */
const few = 60;

/** The graph of a flow, or of a run with its states: one box a stage. It fills its parent, which needs a height. */
export default function StageGraph(props: StageGraphProps) {
  const { shape, drawing } = useMemo(() => shapeOf(props.stages), [props.stages]);
  const placed = useLayout(props.layoutKey, shape);
  if (!placed) return <Loading what="the graph" lines={4} />;
  return (
    <ReactFlowProvider>
      <Canvas {...props} drawing={drawing} layout={placed} />
    </ReactFlowProvider>
  );
}

function Canvas({ label, stages, statuses, facts, selected, onSelect, focus, onFocus, drawing, layout }: StageGraphProps & { drawing: Drawing; layout: Layout }) {
  const box = useRef<HTMLElement>(null);
  const camera = useCamera(box, layout);
  const [spotlight] = useState(() => new Spotlight());
  const [maker] = useState(() => new NodeMaker());
  const [hovered, setHovered] = useState<string>();
  const specs = useMemo(() => new Map(stages.map((s) => [s.name, s])), [stages]);
  const net = useMemo(() => ways(stages), [stages]);
  const nodes = useMemo(() => maker.make(stages, drawing, layout, statuses, facts), [maker, stages, drawing, layout, statuses, facts]);
  const byName = useMemo(() => new Map(nodes.map((n) => [n.id, n])), [nodes]);
  const links = useLinks(drawing, layout, specs, stages, statuses);
  const direct = useMemo(() => links.filter((_, i) => !drawing.links[i]?.implied), [links, drawing]);
  const { hint, onMove, onLeave } = useHint(links, drawing.links, box);

  const pinned = focus !== undefined && specs.has(focus) ? focus : undefined;
  const lit = useMemo(() => {
    const about = pinned ?? hovered;
    return about === undefined ? undefined : related(net, about);
  }, [net, pinned, hovered]);
  const shown = useMemo(() => {
    const about = hovered ?? pinned ?? selected;
    if (about === undefined) return [];
    return litLinks(drawing.links, about, hovered === undefined && pinned !== undefined ? lit : undefined).flatMap((i) => links[i] ?? []);
  }, [links, drawing, hovered, pinned, selected, lit]);

  const first = stages[0]?.name;
  useEffect(() => spotlight.set({ lit, selected }), [spotlight, lit, selected]);
  useEffect(() => {
    if (spotlight.stop === undefined || !specs.has(spotlight.stop)) spotlight.set({ stop: selected ?? first });
  }, [spotlight, specs, selected, first]);

  // What another view has selected is brought into sight.
  const reveal = useEffectEvent((name: string) => {
    const node = byName.get(name);
    if (node) camera.show(node);
  });
  useEffect(() => {
    if (selected !== undefined) reveal(selected);
  }, [selected]);

  const go = (name: string) => {
    const node = byName.get(name);
    if (!node) return;
    camera.show(node);
    spotlight.set({ stop: name });
    // A box that was out of sight is in the document some frames after the view has moved.
    let tries = 0;
    const take = () => {
      const button = box.current?.querySelector<HTMLElement>(`button[data-stage="${CSS.escape(name)}"]`);
      if (button) button.focus({ preventScroll: true });
      else if (tries++ < 20) requestAnimationFrame(take);
    };
    take();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const name = stageOf(event);
    const direction = arrows[event.key];
    if (direction && name) {
      const next = walk(net, layout.nodes, name, direction);
      if (next !== undefined) go(next);
    } else if (event.key === "f") camera.fit();
    else if (event.key === "+" || event.key === "=") camera.zoomBy(1.25);
    else if (event.key === "-") camera.zoomBy(0.8);
    else if (event.key === "Escape" && pinned !== undefined) onFocus?.(undefined);
    else if (event.key === "Escape" && selected !== undefined) onSelect?.(undefined);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <SpotlightContext value={spotlight}>
      <section className={css["graph"]} ref={box} aria-label={label}>
        <ReactFlow<GraphNode>
          nodes={nodes}
          nodeTypes={nodeTypes}
          minZoom={minZoom}
          maxZoom={maxZoom}
          onInit={camera.fit}
          // What is in sight is known a moment after the canvas is: a graph of few boxes does not wait for it.
          onlyRenderVisibleElements={nodes.length > few}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          selectionKeyCode={null}
          panActivationKeyCode={null}
          multiSelectionKeyCode={null}
          zoomOnDoubleClick={false}
          attributionPosition="bottom-left"
          onMoveStart={(event) => event && camera.hold()}
          onViewportChange={({ zoom }) => zoomOf(zoom) !== spotlight.zoom && spotlight.set({ zoom: zoomOf(zoom) })}
          // Handlers of nodes would go to each of them, and a new one would draw all of them again: these are the canvas's own.
          onClick={(event) => {
            const name = stageOf(event);
            if (name !== undefined) onSelect?.(name === selected ? undefined : name);
          }}
          onMouseOver={(event) => setHovered(stageOf(event))}
          onFocus={(event) => {
            const name = stageOf(event);
            if (name !== undefined) spotlight.set({ stop: name });
          }}
          onMouseLeave={() => setHovered(undefined)}
          onPaneMouseMove={onMove}
          onPaneMouseLeave={onLeave}
          onPaneClick={() => onSelect?.(undefined)}
          onKeyDown={onKeyDown}
        >
          <Links links={direct} dim={lit !== undefined} />
          {shown.length > 0 && <LitLinks links={shown} />}
          {stages.length > small && <MiniMap<GraphNode> pannable zoomable ariaLabel="Map of the graph" className={css["map"] ?? ""} style={mapSize} nodeBorderRadius={4} nodeClassName={mapClass} />}
        </ReactFlow>
        {hint && <Hint hint={hint} links={drawing.links} specs={specs} />}
        <div className={css["tools"]}>
          {pinned !== undefined && onFocus && (
            <Button small onClick={() => onFocus(undefined)} title="Show all (Escape)">
              Up- and downstream of {pinned} ✕
            </Button>
          )}
          <Legend run={statuses !== undefined} />
          <Button small onClick={() => camera.zoomBy(0.8)} aria-label="Zoom out" title="Zoom out (−)">
            −
          </Button>
          <Button small onClick={() => camera.zoomBy(1.25)} aria-label="Zoom in" title="Zoom in (+)">
            +
          </Button>
          <Button small onClick={camera.fit} title="Fit the whole graph (F)">
            Fit
          </Button>
        </div>
      </section>
    </SpotlightContext>
  );
}

/** The links with their ways and looks, in the order of the drawing. Counts do not change them, so a frame with counts only draws none. */
function useLinks(drawing: Drawing, layout: Layout, specs: ReadonlyMap<string, Schemas["GraphStage"]>, stages: readonly Schemas["GraphStage"][], statuses: StageGraphProps["statuses"]): Drawn[] {
  const words = statuses && stages.map((s) => statuses.get(s.name)?.state ?? "waiting").join(" ");
  return useMemo(() => {
    // The words were joined from states, so they are states.
    const states = words === undefined ? undefined : new Map(words.split(" ").map((s, i) => [stages[i]?.name ?? "", s as Schemas["StageState"]]));
    const look = looks(drawing.links, specs, states);
    const points = waysOf(drawing, layout, specs);
    return drawing.links.map((l, i) => ({
      points: points[i] ?? [],
      look: look[i] ?? { kind: "success", state: "plain" },
      arrow: !isJoint(l.to),
    }));
  }, [drawing, layout, specs, stages, words]);
}

/** The stage in whose box something happens. */
const stageOf = (event: React.SyntheticEvent): string | undefined => (event.target instanceof Element ? (event.target.closest("[data-stage]")?.getAttribute("data-stage") ?? undefined) : undefined);

/** The colour of a stage on the map. */
const mapClass = (node: GraphNode): string => (node.type !== "stage" ? (css["mapJoint"] ?? "") : (css[`map-${node.data.status ? toneOf(node.data.status.state) : "plain"}`] ?? ""));
