import type { Logger } from '../../../base/log.ts';
import { probeGeyser } from '../../probe-geyser.ts';
import type { GeyserLimits } from './geyser-limits.ts';
import type { GeyserNode } from './geyser-link.ts';

type AbsenceOptions = Readonly<{
  nodes: readonly GeyserNode[];
  limits: Pick<GeyserLimits, 'awayMs' | 'openTimeoutMs' | 'reconnectMs'>;
  log: Logger;
}>;

/** The time in which every server is away: they are tried now and then, so that no subscriber waits to find out. */
export class Absence {
  readonly #options: AbsenceOptions;
  #nodes: readonly GeyserNode[];
  #timer: NodeJS.Timeout | null = null;
  /** Changes with each absence. */
  #run = {};
  #lasts = false;

  constructor(options: AbsenceOptions) {
    this.#options = options;
    this.#nodes = options.nodes;
  }

  /** Tries these servers from now on. */
  setNodes(nodes: readonly GeyserNode[]): void {
    this.#nodes = nodes;
  }

  /** Whether nobody should wait for a server. */
  get lasts(): boolean {
    return this.#lasts;
  }

  begin(): void {
    if (this.#lasts) return;
    this.#lasts = true;
    this.#run = {};
    this.#later();
  }

  end(): void {
    this.#lasts = false;
    this.#run = {};
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #later(): void {
    const { awayMs, reconnectMs } = this.#options.limits;
    this.#timer = setTimeout(() => void this.#look(), Math.max(awayMs, reconnectMs));
    this.#timer.unref();
  }

  /** It is over when a server tells a slot. */
  async #look(): Promise<void> {
    const run = this.#run;
    const { limits, log } = this.#options;
    const nodes = this.#nodes;
    const reports = await Promise.all(nodes.map((node) => probeGeyser(node, limits.openTimeoutMs)));
    if (run !== this.#run) return;
    const back = nodes.find((_, at) => reports[at]?.fault === null);
    if (back === undefined) {
      this.#later();
      return;
    }
    log.info({ node: back.name }, 'a Geyser server is back: new subscriptions are fed from it');
    this.end();
  }
}
