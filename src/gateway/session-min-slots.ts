import type { Network } from '../protocol/call.ts';
import { MinSlot, type MinSlotStore } from '../protocol/min-slot.ts';
import type { KeyRecord } from './auth/key-record.ts';

export type SessionMinSlotsOptions = Readonly<{
  /** Sessions of all keys together; beyond them those are forgotten that were used longest ago. */
  sessionsMax: number;
  /** Sessions of one key. */
  keySessionsMax: number;
  /** One that is not used for so long is forgotten. */
  idleMs: number;
}>;

export const sessionMinSlotsOptions: SessionMinSlotsOptions = {
  sessionsMax: 100_000,
  keySessionsMax: 1_000,
  idleMs: 600_000,
};

/** The session of a key whose reads never go back: no header names it. */
const KEY_WIDE_SESSION = '';

type Session = { readonly minSlot: MinSlot; usedAt: number };

/** What sessions were told of the chain, so that it never goes back for them. In the order of use, of keys and sessions. */
export class SessionMinSlots {
  readonly #options: SessionMinSlotsOptions;
  readonly #exchange: MinSlotStore | null;
  readonly #now: () => number;
  readonly #keys = new Map<string, Map<string, Session>>();
  #sessions = 0;

  /** @param exchange - where others have the same sessions; null: sessions are this process's alone. */
  constructor(
    options: Partial<SessionMinSlotsOptions> = {},
    exchange: MinSlotStore | null = null,
    now: () => number = () => performance.now(),
  ) {
    this.#options = { ...sessionMinSlotsOptions, ...options };
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
  minSlotFor(
    { familyId, monotonicReads }: Pick<KeyRecord, 'familyId' | 'monotonicReads'>,
    network: Network,
    session: string | null | undefined,
  ): MinSlot | null {
    if (monotonicReads) return this.minSlotOf(familyId, network, KEY_WIDE_SESSION);
    return session == null ? null : this.minSlotOf(familyId, network, session);
  }

  /**
   * The floor of a session, which begins when it is asked for first.
   * @param owner - whose it is: sessions of others by the same name are others.
   */
  minSlotOf(familyId: string, network: Network, session: string): MinSlot {
    const sessions = this.#sessionsOf(familyId);
    const name = `${network} ${session}`;
    const now = this.#now();
    const existing = sessions.get(name);
    const isActive = existing !== undefined && now - existing.usedAt <= this.#options.idleMs;
    const used: Session = isActive ? existing : { minSlot: this.#create(`${familyId} ${name}`), usedAt: now };
    used.usedAt = now;
    if (sessions.delete(name)) this.#sessions--;
    sessions.set(name, used);
    this.#sessions++;
    if (sessions.size > this.#options.keySessionsMax) this.#evictOldest(familyId, sessions);
    if (this.#sessions > this.#options.sessionsMax) this.#evictOldestOfAnyKey();
    return used.minSlot;
  }

  #create(name: string): MinSlot {
    return new MinSlot(this.#exchange?.minSlotFor(name) ?? null);
  }

  #sessionsOf(familyId: string): Map<string, Session> {
    const sessions = this.#keys.get(familyId) ?? new Map<string, Session>();
    this.#keys.delete(familyId);
    this.#keys.set(familyId, sessions);
    return sessions;
  }

  /** Of the key that was used longest ago. */
  #evictOldestOfAnyKey(): void {
    for (const [familyId, sessions] of this.#keys) {
      this.#evictOldest(familyId, sessions);
      return;
    }
  }

  #evictOldest(familyId: string, sessions: Map<string, Session>): void {
    for (const name of sessions.keys()) {
      sessions.delete(name);
      this.#sessions--;
      break;
    }
    if (sessions.size === 0) this.#keys.delete(familyId);
  }
}
