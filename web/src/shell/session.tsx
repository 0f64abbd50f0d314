import { createContext, useContext } from 'react';
import type { MemberRole } from '../../../src/control/accounts/roles.ts';
import type { RouteOutput } from '../../../src/control/api/contract/contract.ts';

export type Me = RouteOutput<'GET /me'>;
export type User = NonNullable<Me['user']>;
export type Customer = Me['customers'][number];

/** Who is signed in, and for which customer the pages are shown. */
export type Session = Readonly<{
  user: User;
  customers: readonly Customer[];
  /** The one that is shown. */
  customer: Customer;
  service: Me['service'];
  /** Whether this user has at least that role here. The service decides in the end; pages only show what would do. */
  can: (needed: MemberRole) => boolean;
}>;

const SessionContext = createContext<Session | null>(null);
export const SessionProvider = SessionContext;

/** @throws Error outside of the frame. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('only pages inside the frame have a session');
  return session;
}

/** The most first, as in src/control/accounts/roles.ts, of which only types may reach the bundle. */
const ranks: Readonly<Record<MemberRole, number>> = { owner: 0, admin: 1, developer: 2, viewer: 3 };

export const roleAllows = (role: MemberRole, needed: MemberRole): boolean => ranks[role] <= ranks[needed];
