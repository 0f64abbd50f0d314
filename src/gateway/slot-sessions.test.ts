import { describe, expect, it } from 'vitest';
import { slot } from '../ledger/units.ts';
import { SlotSessions } from './slot-sessions.ts';

describe('sessions that never see the chain go back', () => {
  it('have one floor each, and share it with nobody', () => {
    const sessions = new SlotSessions();
    const floor = sessions.floorOf('key-a', 'devnet', 's');
    floor.raise('processed', slot(9n));
    expect(sessions.floorOf('key-a', 'devnet', 's')).toBe(floor);
    for (const [owner, network, session] of [
      ['key-b', 'devnet', 's'],
      ['key-a', 'testnet', 's'],
      ['key-a', 'devnet', 't'],
    ] as const) {
      expect(sessions.floorOf(owner, network, session).at('processed')).toBe(0n);
    }
    expect(sessions.size).toBe(4);
  });

  it('are those that calls name, or all that a key asks whose reads never go back', () => {
    const sessions = new SlotSessions();
    const key = { familyId: 'key-a', neverBack: false };
    const bound = { familyId: 'key-b', neverBack: true };
    expect(sessions.floorFor(key, 'devnet', null)).toBeNull();
    expect(sessions.floorFor(key, 'devnet', 's')).toBe(sessions.floorOf('key-a', 'devnet', 's'));
    const ofKey = sessions.floorFor(bound, 'devnet', null);
    expect(ofKey).not.toBeNull();
    expect(sessions.floorFor(bound, 'devnet', 's')).toBe(ofKey);
    expect(sessions.floorFor(bound, 'testnet', null)).not.toBe(ofKey);
  });

  it('are forgotten when nobody used them for long', () => {
    let now = 0;
    const sessions = new SlotSessions({ idleMs: 100 }, null, () => now);
    const floor = sessions.floorOf('key', 'devnet', 's');
    now = 100;
    expect(sessions.floorOf('key', 'devnet', 's')).toBe(floor);
    now = 201;
    expect(sessions.floorOf('key', 'devnet', 's')).not.toBe(floor);
    expect(sessions.size).toBe(1);
  });

  it('take no place from other keys, however many one key begins', () => {
    const sessions = new SlotSessions({ keySessionsMax: 3, sessionsMax: 100 });
    const floor = sessions.floorOf('key-a', 'devnet', 's');
    for (let i = 0; i < 50; i++) sessions.floorOf('key-b', 'devnet', `s${i}`);
    expect(sessions.size).toBe(4);
    expect(sessions.floorOf('key-a', 'devnet', 's')).toBe(floor);
  });

  it('are bounded over all keys, and the key that was used longest ago gives way', () => {
    const sessions = new SlotSessions({ sessionsMax: 10 });
    for (let i = 0; i < 50; i++) sessions.floorOf(`key-${i}`, 'devnet', 's');
    const last = sessions.floorOf('key-49', 'devnet', 's');
    expect(sessions.size).toBe(10);
    sessions.floorOf('key-0', 'devnet', 's');
    expect(sessions.floorOf('key-49', 'devnet', 's')).toBe(last);
  });
});
