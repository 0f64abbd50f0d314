import type { MemberRole } from '../../../../src/control/accounts/roles.ts';

/** What each role may, the most first. Each may also all that the ones below it may. */
export const roles: readonly Readonly<{ role: MemberRole; may: string }>[] = [
  { role: 'owner', may: 'makes owners, and everything else' },
  { role: 'admin', may: 'invites and removes people, makes API tokens, sets notices, reads the audit log' },
  {
    role: 'developer',
    may: 'makes, changes, rotates and revokes keys, opens single requests, closes connections',
  },
  { role: 'viewer', may: 'looks at keys, usage, errors and logs' },
];
