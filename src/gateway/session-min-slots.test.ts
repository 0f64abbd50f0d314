import { describe, expect, it } from 'vitest';
import { slot } from '../solana/units.ts';
import { SessionMinSlots } from './session-min-slots.ts';

describe('sessions that never see the chain go back', () => {
  it('have one floor each, and share it with nobody', () => {
    const sessions = new SessionMinSlots();
    const floor = sessions.minSlotOf('key-a', 'devnet', 's');
    floor.raise('processed', slot(9n));
    expect(sessions.minSlotOf('key-a', 'devnet', 's')).toBe(floor);
    for (const [owner, network, session] of [
      ['key-b', 'devnet', 's'],
      ['key-a', 'testnet', 's'],
      ['key-a', 'devnet', 't'],
    ] as const) {
      expect(sessions.minSlotOf(owner, network, session).at('processed')).toBe(0n);
    }
    expect(sessions.size).toBe(4);
  });

  it('are those that calls name, or all that a key asks whose reads never go back', () => {
    const sessions = new SessionMinSlots();
    const key = { familyId: 'key-a', monotonicReads: false };
    const bound = { familyId: 'key-b', monotonicReads: true };
    expect(sessions.minSlotFor(key, 'devnet', null)).toBeNull();
    expect(sessions.minSlotFor(key, 'devnet', 's')).toBe(sessions.minSlotOf('key-a', 'devnet', 's'));
    const ofKey = sessions.minSlotFor(bound, 'devnet', null);
    expect(ofKey).not.toBeNull();
    expect(sessions.minSlotFor(bound, 'devnet', 's')).toBe(ofKey);
    expect(sessions.minSlotFor(bound, 'testnet', null)).not.toBe(ofKey);
  });

  it('are forgotten when nobody used them for long', () => {
    let now = 0;
    const sessions = new SessionMinSlots({ idleMs: 100 }, null, () => now);
    const floor = sessions.minSlotOf('key', 'devnet', 's');
    now = 100;
    expect(sessions.minSlotOf('key', 'devnet', 's')).toBe(floor);
    now = 201;
    expect(sessions.minSlotOf('key', 'devnet', 's')).not.toBe(floor);
    expect(sessions.size).toBe(1);
  });

  it('take no place from other keys, however many one key begins', () => {
    const sessions = new SessionMinSlots({ keySessionsMax: 3, sessionsMax: 100 });
    const floor = sessions.minSlotOf('key-a', 'devnet', 's');
    for (let i = 0; i < 50; i++) sessions.minSlotOf('key-b', 'devnet', `s${i}`);
    expect(sessions.size).toBe(4);
    expect(sessions.minSlotOf('key-a', 'devnet', 's')).toBe(floor);
  });

  it('are bounded over all keys, and the key that was used longest ago gives way', () => {
    const sessions = new SessionMinSlots({ sessionsMax: 10 });
    for (let i = 0; i < 50; i++) sessions.minSlotOf(`key-${i}`, 'devnet', 's');
    const last = sessions.minSlotOf('key-49', 'devnet', 's');
    expect(sessions.size).toBe(10);
    sessions.minSlotOf('key-0', 'devnet', 's');
    expect(sessions.minSlotOf('key-49', 'devnet', 's')).toBe(last);
  });
});
