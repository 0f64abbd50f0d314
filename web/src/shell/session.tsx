import { createContext, useContext } from 'react';
import type { MemberRole } from '../../../src/control/accounts/roles.ts';
import type { RouteOutput } from '../../../src/control/api/contract/contract.ts';

export type Me = RouteOutput<'GET /me'>;
export type User = NonNullable<Me['user']>;
export type Customer = Me['customers'][number];

export type Session = Readonly<{
  user: User;
  customers: readonly Customer[];
  customer: Customer;
  service: Me['service'];
  /** Whether the user has at least this role. For display only; the service enforces it. */
  can: (required: MemberRole) => boolean;
}>;

const SessionContext = createContext<Session | null>(null);
export const SessionProvider = SessionContext;

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('only pages inside the frame have a session');
  return session;
}

/** Mirrors src/control/accounts/roles.ts; only types may be imported. */
const ranks: Readonly<Record<MemberRole, number>> = { owner: 0, admin: 1, developer: 2, viewer: 3 };

export const roleAllows = (role: MemberRole, required: MemberRole): boolean => ranks[role] <= ranks[required];
