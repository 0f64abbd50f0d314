import type { Network } from '../protocol/call.ts';
import { MinSlot, type MinSlotStore } from '../protocol/min-slot.ts';
import type { KeyRecord } from './auth/key-record.ts';

export type SessionMinSlotsOptions = Readonly<{
  /** Sessions in all, least recently used evicted first. */
  sessionsMax: number;
  /** Sessions per key family. */
  keySessionsMax: number;
  /** Idle time after which a session expires. */
  idleMs: number;
}>;

export const sessionMinSlotsOptions: SessionMinSlotsOptions = {
  sessionsMax: 100_000,
  keySessionsMax: 1_000,
  idleMs: 600_000,
};

/** Name of the session of a key with monotonic reads. */
const KEY_WIDE_SESSION = '';

type Session = { readonly minSlot: MinSlot; usedAt: number };

/**
 * Minimum slots of sessions, which give each session monotonic reads. Keys and sessions are ordered by use.
 */
export class SessionMinSlots {
  readonly #options: SessionMinSlotsOptions;
  readonly #exchange: MinSlotStore | null;
  readonly #now: () => number;
  readonly #keys = new Map<string, Map<string, Session>>();
  #sessions = 0;

  /** @param exchange - shares minimum slots with other gateways; null: they are local. */
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
   * Returns the minimum slot of a call; null for none. All calls of a key with monotonic reads form one
   * session.
   * @param session - session named by the call; absent or null: none.
   */
  minSlotFor(
    { familyId, monotonicReads }: Pick<KeyRecord, 'familyId' | 'monotonicReads'>,
    network: Network,
    session: string | null | undefined,
  ): MinSlot | null {
    if (monotonicReads) return this.minSlotOf(familyId, network, KEY_WIDE_SESSION);
    return session == null ? null : this.minSlotOf(familyId, network, session);
  }

  /** Returns the minimum slot of a session, creating the session if needed. */
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
