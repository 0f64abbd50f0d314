import { bootId, identityOf, isRunning } from '../base/process-identity.ts';

/** `<boot id>.<pid>.<process start>.<UUID><suffix>`; boot id and process start may be empty. */
const NAME = /^([\w-]*)\.(\d{1,10})\.(\d*)\.([\w-]{36})((?:\.\w+)*)$/;

/** Number of names that this process owns, by UUID. A pid is not enough, because pids are reused. */
const ownIds = new Map<string, number>();

/** Returns a name for a file or folder that belongs to this process until `releaseId` is called. */
export function processOwnedName(id: string): string {
  const { pid, started } = identityOf(process.pid);
  ownIds.set(id, (ownIds.get(id) ?? 0) + 1);
  return `${bootId()}.${pid}.${started}.${id}`;
}

/** Must be called once for each name. */
export function releaseId(id: string): void {
  const left = (ownIds.get(id) ?? 0) - 1;
  if (left > 0) ownIds.set(id, left);
  else ownIds.delete(id);
}

/** Parses a name from `processOwnedName`, or returns null. `owner` is null if the owning process no longer runs. */
export function parseOwnedName(
  name: string,
): Readonly<{ id: string; suffix: string; owner: 'me' | 'another' | null }> | null {
  const [, boot, pid, started = '', id, suffix = ''] = NAME.exec(name) ?? [];
  if (id === undefined) return null;
  if (ownIds.has(id)) return { id, suffix, owner: 'me' };
  const lives = Number(pid) !== process.pid && boot === bootId() && isRunning({ pid: Number(pid), started });
  return { id, suffix, owner: lives ? 'another' : null };
}
