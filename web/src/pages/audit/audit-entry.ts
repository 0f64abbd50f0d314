import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';

type AuditItem = RouteOutput<'GET /audit'>['items'][number];

export type AuditEntry = Omit<AuditItem, 'customerId'> & Partial<Pick<AuditItem, 'customerId'>>;

const kinds: Readonly<Record<string, string>> = {
  user: 'user',
  token: 'token',
  cli: 'command line',
  system: 'system',
};

export function actorOf(actor: string): Readonly<{ name: string; kind: string | null }> {
  const at = actor.indexOf(':');
  const kind = kinds[actor.slice(0, at)];
  return at < 0 || kind === undefined ? { name: actor, kind: null } : { name: actor.slice(at + 1), kind };
}

export const detailOf = ({ detail }: AuditEntry): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name}: ${value === null ? 'none' : String(value)}`)
    .join(' · ');
