import type { Logger } from '../../../base/log.ts';
import type { GeyserNode } from '../../geyser/geyser-node.ts';
import { probeGeyser } from '../../probe/probe-geyser.ts';
import type { GeyserLimits } from './geyser-connection.ts';

type OutageMonitorOptions = Readonly<{
  nodes: readonly GeyserNode[];
  limits: Pick<GeyserLimits, 'awayMs' | 'openTimeoutMs' | 'reconnectMs'>;
  log: Logger;
}>;

/** Tracks an outage of all servers and probes them, so that subscribers need not wait for a timeout. */
export class OutageMonitor {
  readonly #options: OutageMonitorOptions;
  #nodes: readonly GeyserNode[];
  #timer: NodeJS.Timeout | null = null;
  /** Changes with each outage. */
  #generation = {};
  #isActive = false;

  constructor(options: OutageMonitorOptions) {
    this.#options = options;
    this.#nodes = options.nodes;
  }

  setNodes(nodes: readonly GeyserNode[]): void {
    this.#nodes = nodes;
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  start(): void {
    if (this.#isActive) return;
    this.#isActive = true;
    this.#generation = {};
    this.#scheduleProbe();
  }

  end(): void {
    this.#isActive = false;
    this.#generation = {};
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #scheduleProbe(): void {
    const { awayMs, reconnectMs } = this.#options.limits;
    this.#timer = setTimeout(() => void this.#probe(), Math.max(awayMs, reconnectMs));
    this.#timer.unref();
  }

  /** Ends the outage when a server sends a slot. */
  async #probe(): Promise<void> {
    const generation = this.#generation;
    const { limits, log } = this.#options;
    const nodes = this.#nodes;
    const reports = await Promise.all(nodes.map((node) => probeGeyser(node, limits.openTimeoutMs)));
    if (generation !== this.#generation) return;
    const recovered = nodes.find((_, at) => reports[at]?.fault === null);
    if (recovered === undefined) {
      this.#scheduleProbe();
      return;
    }
    log.info({ node: recovered.name }, 'Geyser server recovered');
    this.end();
  }
}
