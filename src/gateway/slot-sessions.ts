import type { KeyRecord } from '../access/key-record.ts';
import type { Network } from '../protocol/call.ts';
import { type FloorExchange, SlotFloor } from '../protocol/slot-floor.ts';

export type SlotSessionsOptions = Readonly<{
  /** Sessions of all keys together; beyond them those are forgotten that were used longest ago. */
  sessionsMax: number;
  /** Sessions of one key. */
  keySessionsMax: number;
  /** One that is not used for so long is forgotten. */
  idleMs: number;
}>;

export const slotSessionsOptions: SlotSessionsOptions = {
  sessionsMax: 100_000,
  keySessionsMax: 1_000,
  idleMs: 600_000,
};

/** The session of a key whose reads never go back: no header names it. */
const ALL_OF_THE_KEY = '';

type Session = { readonly floor: SlotFloor; usedAt: number };

/** What sessions were told of the chain, so that it never goes back for them. In the order of use, of keys and sessions. */
export class SlotSessions {
  readonly #options: SlotSessionsOptions;
  readonly #exchange: FloorExchange | null;
  readonly #now: () => number;
  readonly #keys = new Map<string, Map<string, Session>>();
  #sessions = 0;

  /** @param exchange - where others have the same sessions; null: sessions are this process's alone. */
  constructor(
    options: Partial<SlotSessionsOptions> = {},
    exchange: FloorExchange | null = null,
    now: () => number = () => performance.now(),
  ) {
    this.#options = { ...slotSessionsOptions, ...options };
    this.#exchange = exchange;
    this.#now = now;
  }

  get size(): number {
    return this.#sessions;
  }

  /**
   * What a call must not be told less of; null: nothing. All that a key asks is one session where its rules say that its
   * reads never go back, whatever session the call names.
   * @param session - as the call names it; absent or null: none.
   */
  floorFor(
    { familyId, neverBack }: Pick<KeyRecord, 'familyId' | 'neverBack'>,
    network: Network,
    session: string | null | undefined,
  ): SlotFloor | null {
    if (neverBack) return this.floorOf(familyId, network, ALL_OF_THE_KEY);
    return session == null ? null : this.floorOf(familyId, network, session);
  }

  /**
   * The floor of a session, which begins when it is asked for first.
   * @param owner - whose it is: sessions of others by the same name are others.
   */
  floorOf(owner: string, network: Network, session: string): SlotFloor {
    const sessions = this.#sessionsOf(owner);
    const name = `${network} ${session}`;
    const now = this.#now();
    const known = sessions.get(name);
    const isKept = known !== undefined && now - known.usedAt <= this.#options.idleMs;
    const used: Session = isKept ? known : { floor: this.#begin(`${owner} ${name}`), usedAt: now };
    used.usedAt = now;
    if (sessions.delete(name)) this.#sessions--;
    sessions.set(name, used);
    this.#sessions++;
    if (sessions.size > this.#options.keySessionsMax) this.#forgetOldest(owner, sessions);
    if (this.#sessions > this.#options.sessionsMax) this.#forgetAnyOldest();
    return used.floor;
  }

  #begin(name: string): SlotFloor {
    return new SlotFloor(this.#exchange?.keptAt(name) ?? null);
  }

  #sessionsOf(owner: string): Map<string, Session> {
    const sessions = this.#keys.get(owner) ?? new Map<string, Session>();
    this.#keys.delete(owner);
    this.#keys.set(owner, sessions);
    return sessions;
  }

  /** Of the key that was used longest ago. */
  #forgetAnyOldest(): void {
    for (const [owner, sessions] of this.#keys) {
      this.#forgetOldest(owner, sessions);
      return;
    }
  }

  #forgetOldest(owner: string, sessions: Map<string, Session>): void {
    for (const name of sessions.keys()) {
      sessions.delete(name);
      this.#sessions--;
      break;
    }
    if (sessions.size === 0) this.#keys.delete(owner);
  }
}
