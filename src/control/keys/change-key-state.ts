import type { KeyTable } from '../database/schema.ts';
import { nextVersion, transactAndNotify, writeAudit } from '../database/transaction.ts';
import { auditEntry, beforeAndAfter, KeyRefusedError, type KeyRegister, requireKey } from './key-register.ts';
import { type KeyView, type VisibleKeyStatus, viewKey } from './key-view.ts';

type Change = Partial<Pick<KeyTable, 'state' | 'expires_at'>>;

const stateDetail = ({ state, expires_at: expiresAt }: Pick<KeyTable, 'state' | 'expires_at'>) => ({
  state,
  expiresAt,
});

const changed = (row: KeyTable, change: Change) =>
  beforeAndAfter(stateDetail(row), stateDetail({ ...row, ...change }));

/**
 * Reads the key, asks `decide` what is to change (null: it is already so) and writes it with its audit line.
 */
function changeState(
  register: KeyRegister,
  id: string,
  action: string,
  decide: (row: KeyTable) => Change | null,
): Promise<KeyView> {
  return transactAndNotify(register.store, async (trx) => {
    const version = await nextVersion(trx);
    const row = await requireKey(trx, id, register);
    const change = decide(row);
    if (change === null) return viewKey(row, register.now());
    await trx
      .updateTable('api_key')
      .set({ ...change, version })
      .where('id', '=', id)
      .execute();
    await writeAudit(trx, version, auditEntry(register, action, row, changed(row, change)));
    return viewKey({ ...row, ...change, version }, register.now());
  });
}

function refuse(
  { id, state }: Pick<KeyTable, 'id'> & { state: VisibleKeyStatus },
  what: string,
  remedy: string,
): never {
  throw new KeyRefusedError('wrong-state', `key ${id} cannot be ${what}: it is ${state}, ${remedy}`);
}

/** A key whose time has passed cannot be stopped, nor work again, whatever state is stored. */
function refuseExpired({ id, expires_at: end }: KeyTable, now: number, what: string): void {
  if (end !== null && end <= now) refuse({ id, state: 'expired' }, what, 'which is final: create a new key');
}

/** Ends a key for ever. Revoking a revoked key changes nothing. @throws KeyRefusedError not-found */
export function revokeKey(register: KeyRegister, id: string): Promise<KeyView> {
  return changeState(register, id, 'key.revoke', (row) =>
    row.state === 'revoked' ? null : { state: 'revoked' },
  );
}

/** Stops a key until it is enabled again. @throws KeyRefusedError */
export function disableKey(register: KeyRegister, id: string): Promise<KeyView> {
  return changeState(register, id, 'key.disable', (row) => {
    if (row.state === 'disabled') return null;
    if (row.state === 'revoked') refuse(row, 'disabled', 'which is final');
    refuseExpired(row, register.now(), 'disabled');
    return { state: 'disabled' };
  });
}

/** Lets a disabled key work again; one that was being replaced goes on being so. @throws KeyRefusedError */
export function enableKey(register: KeyRegister, id: string): Promise<KeyView> {
  return changeState(register, id, 'key.enable', (row) => {
    if (row.state === 'revoked') refuse(row, 'enabled', 'which is final: create a new key');
    refuseExpired(row, register.now(), 'enabled');
    if (row.state === 'active' || row.state === 'rotating') return null;
    return { state: row.replaced_by === null ? 'active' : 'rotating' };
  });
}

/**
 * Ends the overlap of a rotation at `expiresAt` instead of later; now when it is not given.
 * @throws KeyRefusedError
 */
export function cutOverlap(register: KeyRegister, id: string, expiresAt?: number): Promise<KeyView> {
  return changeState(register, id, 'key.cut-overlap', (row) => {
    if (row.state !== 'rotating') refuse(row, 'cut short', 'and only a key that is being replaced can be');
    const end = Math.max(expiresAt ?? 0, register.now());
    if (row.expires_at !== null && row.expires_at <= end) return null;
    return { expires_at: end };
  });
}
