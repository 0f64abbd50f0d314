import { describe, expect, it } from 'vitest';
import { SessionMinSlots } from './session-min-slots.ts';

describe('minimum slots of sessions', () => {
  it('are per named session, or per key with monotonic reads', () => {
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

  it('expire when idle', () => {
    let now = 0;
    const sessions = new SessionMinSlots({ idleMs: 100 }, null, () => now);
    const minSlot = sessions.minSlotOf('key', 'devnet', 's');
    now = 100;
    expect(sessions.minSlotOf('key', 'devnet', 's')).toBe(minSlot);
    now = 200;
    expect(sessions.minSlotOf('key', 'devnet', 's')).toBe(minSlot);
    now = 301;
    expect(sessions.minSlotOf('key', 'devnet', 's')).not.toBe(minSlot);
    expect(sessions.size).toBe(1);
  });

  it('are limited per key without evicting those of other keys', () => {
    const sessions = new SessionMinSlots({ keySessionsMax: 3, sessionsMax: 100 });
    const minSlot = sessions.minSlotOf('key-a', 'devnet', 's');
    for (let i = 0; i < 50; i++) sessions.minSlotOf('key-b', 'devnet', `s${i}`);
    expect(sessions.size).toBe(4);
    expect(sessions.minSlotOf('key-a', 'devnet', 's')).toBe(minSlot);
  });

  it('are limited in all, evicting from the least recently used key', () => {
    const sessions = new SessionMinSlots({ sessionsMax: 10 });
    for (let i = 0; i < 50; i++) sessions.minSlotOf(`key-${i}`, 'devnet', 's');
    const last = sessions.minSlotOf('key-49', 'devnet', 's');
    expect(sessions.size).toBe(10);
    sessions.minSlotOf('key-0', 'devnet', 's');
    expect(sessions.minSlotOf('key-49', 'devnet', 's')).toBe(last);
  });
});
