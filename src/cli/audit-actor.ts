import { userInfo } from 'node:os';

/** Who acts at this machine, for the audit log. */
export function getAuditActor(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
