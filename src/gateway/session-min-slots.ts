import type { Network } from '../protocol/call.ts';
import { MinSlot, type MinSlotStore } from '../protocol/min-slot.ts';
import type { KeyRecord } from './auth/key-record.ts';

export const sessionMinSlotsOptions = {
  /** Maximum number of sessions in total; the least recently used is evicted first. */
  sessionsMax: 100_000,
  /** Maximum number of sessions per key family. */
  keySessionsMax: 1_000,
  /** Time after which an idle session expires. */
  idleMs: 600_000,
};

type SessionMinSlotsOptions = Readonly<typeof sessionMinSlotsOptions>;

/** Session name used for all calls of a key with monotonic reads. */
const KEY_WIDE_SESSION = '';

type SessionKey = Pick<KeyRecord, 'familyId' | 'monotonicReads'>;
type Session = { readonly minSlot: MinSlot; usedAt: number };

/** Gives each session monotonic reads. Keys and sessions are ordered from least to most recently used. */
export class SessionMinSlots {
  readonly #options: SessionMinSlotsOptions;
  readonly #exchange: MinSlotStore | null;
  readonly #now: () => number;
  readonly #keys = new Map<string, Map<string, Session>>();
  #sessions = 0;

  /** @param exchange - shares minimum slots with other gateways. */
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

  /** All calls of a key with monotonic reads form one session. @returns null for a call without a session. */
  minSlotFor(key: SessionKey, network: Network, session: string | null | undefined): MinSlot | null {
    const { familyId, monotonicReads } = key;
    if (monotonicReads) return this.minSlotOf(familyId, network, KEY_WIDE_SESSION);
    return session == null ? null : this.minSlotOf(familyId, network, session);
  }

  /** Creates the session if needed. */
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
    return new MinSlot(this.#exchange?.sharedMinSlotFor(name) ?? null);
  }

  #sessionsOf(familyId: string): Map<string, Session> {
    const sessions = this.#keys.get(familyId) ?? new Map<string, Session>();
    this.#keys.delete(familyId);
    this.#keys.set(familyId, sessions);
    return sessions;
  }

  #evictOldestOfAnyKey(): void {
    const [oldest] = this.#keys;
    if (oldest !== undefined) this.#evictOldest(...oldest);
  }

  #evictOldest(familyId: string, sessions: Map<string, Session>): void {
    const [oldest] = sessions.keys();
    if (oldest !== undefined && sessions.delete(oldest)) this.#sessions--;
    if (sessions.size === 0) this.#keys.delete(familyId);
  }
}
