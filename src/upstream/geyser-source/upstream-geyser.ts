import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../base/log.ts';
import { type Slot, slot as slotOf } from '../../ledger/units.ts';
import { encodeSubscribeRequest, type SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import type { GeyserListener, GeyserSource, Wish } from '../../streams/geyser/geyser-source.ts';
import type { ChainReader } from '../feeds/chain-reader.ts';
import type { GeyserNode } from '../feeds/geyser/geyser-link.ts';
import type { KnownSlot } from '../known-slots.ts';
import { Backfills, type Waiting } from './backfills.ts';
import { EndpointLink } from './endpoint-link.ts';
import { type GeyserSourceOptions, geyserSourceOptions } from './geyser-source-options.ts';
import { HoleRepair } from './hole-repair.ts';
import { type Replayed, replay } from './replay.ts';
import { UpdateMerge } from './update-merge.ts';
import { type Breadth, fullRequest, type WantedKinds, WishUnion } from './wish-union.ts';

export type UpstreamGeyserOptions = Readonly<{
  /** All of them are listened to at once. */
  nodes: readonly GeyserNode[];
  /** Reads blocks where no server replays what is missing. */
  reader: Pick<ChainReader, 'slots' | 'eachBlock'>;
  /** The newest slot as somebody else than these nodes' Geyser knows it; null while nobody does. */
  head?: () => KnownSlot | null;
  options?: Partial<GeyserSourceOptions>;
  log: Logger;
}>;

const everything: WantedKinds = { accounts: true, transactions: true, entries: true };
const LOOKS_PER_STALL = 10;

/**
 * Tells a ledger as the Yellowstone servers of a network's nodes do, all of them at once: the first copy of each
 * update counts. One that dies is connected to again while the others carry on; what none of them has told is
 * replayed, read from blocks, or said to be lost.
 */
export class UpstreamGeyser implements GeyserSource {
  readonly #options: UpstreamGeyserOptions;
  readonly #limits: GeyserSourceOptions;
  readonly #union: WishUnion;
  readonly #merge: UpdateMerge;
  readonly #repair: HoleRepair;
  #links: readonly EndpointLink[];
  readonly #backfills: Backfills;
  readonly #end = new AbortController();
  readonly #begun = Promise.withResolvers<void>();
  readonly #watch: NodeJS.Timeout;
  /** Kept when servers have taken all that was wanted until now. */
  #taken: Promise<void> = Promise.resolve();
  /** Slots up to this one may have been told without all that is wanted now. */
  #narrowUpTo: Slot | null = null;

  constructor(options: UpstreamGeyserOptions, listener: GeyserListener) {
    this.#options = options;
    this.#limits = { ...geyserSourceOptions, ...options.options };
    const { reader, head = () => null, log } = options;
    const limits = this.#limits;
    this.#union = new WishUnion(limits);
    this.#backfills = new Backfills(limits.backfillsMax, (from) => this.#tellAgain(from));
    const merge = new UpdateMerge({
      limits,
      listener,
      head,
      onFirst: () => this.#begun.resolve(),
      onWaiting: () => this.#repair.look(),
    });
    this.#merge = merge;
    this.#repair = new HoleRepair({
      merge,
      reader,
      limits,
      log,
      listener,
      wanted: () => (limits.demand === 'full' ? everything : this.#union.kinds),
      replay: (hole) => this.#replay(hole.from, hole.to, false),
    });
    this.#links = options.nodes.map((node) => this.#linkTo(node));
    this.#watch = setInterval(() => this.#repair.look(), limits.stallMs / LOOKS_PER_STALL);
  }

  want(request: SubscribeRequest, fromSlot: Slot | null): Wish {
    const before = this.#wanted();
    const leave = this.#union.add(request);
    if (!before.equals(this.#wanted())) this.#changed();
    const taken = this.#taken;
    const waiting = fromSlot === null ? null : { from: fromSlot, isOver: false };
    return {
      ready: waiting === null ? taken : taken.then(() => this.#backfill(waiting)),
      end: () => {
        if (waiting !== null) waiting.isOver = true;
        const held = this.#wanted();
        leave();
        // Whoever is still there loses nothing when this comes late, or not at all.
        if (!held.equals(this.#wanted())) for (const link of this.#links) void link.changed();
      },
    };
  }

  /** Listens to these servers from now on: streams of those that stay go on, and new ones begin where those are. */
  setNodes(nodes: readonly GeyserNode[]): void {
    if (this.#end.signal.aborted) return;
    const before = this.#links;
    this.#links = nodes.map(
      (node) => before.find((link) => isDeepStrictEqual(link.node, node)) ?? this.#linkTo(node),
    );
    for (const link of before) if (!this.#links.includes(link)) link.close();
  }

  /** Ends every stream; the listener hears nothing more. */
  close(): void {
    clearInterval(this.#watch);
    this.#end.abort();
    this.#repair.close();
    for (const link of this.#links) link.close();
    this.#begun.resolve();
  }

  #linkTo(node: GeyserNode): EndpointLink {
    const merge = this.#merge;
    return new EndpointLink({
      node,
      limits: this.#limits,
      log: this.#options.log,
      request: (breadth) => this.#request(breadth),
      resumeAt: () => this.#resumeAt(),
      join: (from, seals) => merge.join({ from, tip: merge.newest, fillsIn: false, seals }),
      leave: (teller) => merge.leave(teller),
    });
  }

  #request(breadth: Breadth): SubscribeRequest {
    return this.#limits.demand === 'full' ? fullRequest(breadth) : this.#union.request(breadth);
  }

  #wanted(): Buffer {
    return Buffer.from(encodeSubscribeRequest(this.#request('exact')));
  }

  /** Servers that are away are not waited for, unless all of them are; a race that nobody runs never ends. */
  #changed(): void {
    const up = this.#links.map((link) => link.isUp);
    const waits = this.#links.map((link) => link.changed());
    const isAway = waits.length > 0 && !up.includes(true);
    const taken = isAway ? Promise.race(waits) : Promise.all(waits.filter((_, at) => up[at]));
    const before = this.#taken;
    this.#taken = Promise.all([before, taken]).then(() => {
      this.#narrowUpTo = this.#merge.begun;
    });
  }

  /** Where a stream that was cut goes on. */
  #resumeAt(): Slot | null {
    const { newest } = this.#merge;
    if (newest === null) return null;
    const from = newest + 1n - BigInt(this.#limits.replayMarginSlots);
    return slotOf(from > 0n ? from : 0n);
  }

  /** Waits until a server has told again what was told without something that is wanted now. Never rejects. */
  async #backfill(waiting: Waiting): Promise<void> {
    const inTime = AbortSignal.timeout(this.#limits.openTimeoutMs);
    const late = new Promise<void>((resolve) => inTime.addEventListener('abort', () => resolve()));
    await Promise.race([this.#begun.promise, late]);
    const { from } = waiting;
    const { first, begun } = this.#merge;
    if (first === null || begun === null || this.#end.signal.aborted) return;
    const isNarrow = this.#narrowUpTo !== null && from <= this.#narrowUpTo;
    if (from > begun || (from >= first && !isNarrow)) return;
    await this.#backfills.add(waiting);
  }

  async #tellAgain(from: Slot): Promise<void> {
    const { begun } = this.#merge;
    if (begun === null || this.#end.signal.aborted) return;
    const oldest = begun - BigInt(this.#limits.replaySlotsMax);
    const asked = from > oldest ? from : slotOf(oldest > 0n ? oldest : 0n);
    const replayed = await this.#replay(asked, begun, true);
    if (replayed !== 'whole')
      this.#options.log.warn({ from: Number(from) }, 'no Geyser server tells old slots again');
  }

  #replay(from: Slot, to: Slot, fillsIn: boolean): Promise<Replayed> {
    const { log } = this.#options;
    const [links, merge, limits] = [this.#links, this.#merge, this.#limits];
    const request = (breadth: Breadth): SubscribeRequest => this.#request(breadth);
    return replay({ links, merge, request, limits, log, signal: this.#end.signal }, { from, to, fillsIn });
  }
}
