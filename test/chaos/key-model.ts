import {
  cutOverlap,
  disableKey,
  enableKey,
  revokeKey,
  rotateKey,
} from '../../src/control/keys/change-key.ts';
import { createKey, type NewKey } from '../../src/control/keys/create-key.ts';
import type { KeyRegister } from '../../src/control/keys/key-register.ts';
import type { RequestOutcome } from './key-traffic.ts';
import type { Outages } from './outages.ts';

/** The expected state of a key. Times are from `performance.now()`. */
export type ModelKey = {
  readonly id: string;
  readonly secret: string;
  state: 'good' | 'replaced' | 'disabled' | 'ended';
  /** When the change to this state was acknowledged. */
  since: number;
  generation: number;
  busy: boolean;
  /** Whether the outcome of a change is unknown because of a database outage. */
  unsure: boolean;
};

const HOUR_MS = 3_600_000;
export const verbs = ['create', 'rotate', 'rotate at once', 'cut', 'disable', 'enable', 'revoke'] as const;
export type Verb = (typeof verbs)[number];

const needed: Readonly<Record<Exclude<Verb, 'create'>, readonly ModelKey['state'][]>> = {
  rotate: ['good'],
  'rotate at once': ['good'],
  cut: ['replaced'],
  disable: ['good', 'replaced'],
  enable: ['disabled'],
  revoke: ['good', 'replaced', 'disabled'],
};

export const works = ({ state }: ModelKey): boolean => state === 'good' || state === 'replaced';

export class KeyModel {
  readonly keys: ModelKey[] = [];
  readonly violations: string[] = [];
  readonly #register: KeyRegister;
  readonly #outages: Outages;
  /** Keys that were in rotation when they were disabled. */
  readonly #replaced = new Set<string>();

  constructor(register: KeyRegister, outages: Outages) {
    this.#register = register;
    this.#outages = outages;
  }

  any(): ModelKey {
    return this.keys[Math.floor(Math.random() * this.keys.length)]!;
  }

  /**
   * Changes a random key, or creates one.
   * @returns the changed keys; none during a database outage.
   */
  async change(verb: Verb): Promise<ModelKey[]> {
    if (verb === 'create') {
      const made = createKey(this.#register, { product: 'rpc', name: 'chaos' });
      return made.then(
        (key) => [this.#add(key)],
        () => [],
      );
    }
    const key = this.#pick(needed[verb]);
    if (key === null) return [];
    key.busy = true;
    key.generation++;
    try {
      return await this.#apply(verb, key);
    } catch {
      key.unsure = true;
      return [];
    } finally {
      key.generation++;
      key.busy = false;
    }
  }

  async check(key: ModelKey, call: () => Promise<RequestOutcome>, at: string): Promise<void> {
    const { generation, busy } = key;
    const { startedAt, outcome } = await call();
    if (busy || key.unsure || key.generation !== generation) return;
    if (startedAt <= this.#outages.limitOf(key.since)) return;
    const late = Math.round(startedAt - key.since);
    if (works(key) && outcome !== 'ok')
      this.violations.push(`${at}: good key ${key.id} got ${outcome}, ${late} ms after it was made good`);
    if (!works(key) && outcome === 'ok')
      this.violations.push(`${at}: ${key.state} key ${key.id} was accepted ${late} ms after the change`);
  }

  async settle(): Promise<void> {
    const now = Date.now();
    for (const key of this.keys.filter(({ unsure }) => unsure)) {
      const row = await this.#register.store.db
        .selectFrom('api_key')
        .select(['state', 'expires_at'])
        .where('id', '=', key.id)
        .executeTakeFirstOrThrow();
      const isOver = row.expires_at !== null && row.expires_at <= now;
      const good = !isOver && (row.state === 'active' || row.state === 'rotating');
      key.state = good ? 'good' : 'ended';
      key.unsure = false;
    }
  }

  #pick(states: readonly ModelKey['state'][]): ModelKey | null {
    for (let attempt = 0; attempt < 50; attempt++) {
      const key = this.any();
      if (!key.busy && !key.unsure && states.includes(key.state)) return key;
    }
    return null;
  }

  #add({ secret, key }: NewKey): ModelKey {
    const since = performance.now();
    const made: ModelKey = {
      ...{ id: key.id, secret, state: 'good', since, generation: 0, busy: false, unsure: false },
    };
    this.keys.push(made);
    return made;
  }

  #become(key: ModelKey, state: ModelKey['state']): void {
    key.state = state;
    key.since = performance.now();
  }

  async #apply(verb: Exclude<Verb, 'create'>, key: ModelKey): Promise<ModelKey[]> {
    const register = this.#register;
    if (verb === 'rotate' || verb === 'rotate at once') {
      const made = await rotateKey(register, key.id, verb === 'rotate' ? HOUR_MS : 0);
      this.#become(key, verb === 'rotate' ? 'replaced' : 'ended');
      const added = this.#add(made);
      return verb === 'rotate' ? [added] : [key, added];
    }
    if (verb === 'disable') {
      await disableKey(register, key.id);
      if (key.state === 'replaced') this.#replaced.add(key.id);
    }
    if (verb === 'enable') await enableKey(register, key.id);
    if (verb === 'cut') await cutOverlap(register, key.id);
    if (verb === 'revoke') await revokeKey(register, key.id);
    const after = { cut: 'ended', revoke: 'ended', disable: 'disabled', enable: 'good' } as const;
    const replaced = verb === 'enable' && this.#replaced.delete(key.id);
    this.#become(key, replaced ? 'replaced' : after[verb]);
    return [key];
  }
}
