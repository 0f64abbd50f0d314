import type { MemberRole } from '../../../../src/control/accounts/roles.ts';

export const roleNames: Readonly<Record<MemberRole, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  developer: 'Developer',
  viewer: 'Viewer',
};
export const roles: readonly Readonly<{ role: MemberRole; description: string }>[] = [
  { role: 'owner', description: 'Full access, including adding and removing owners' },
  { role: 'admin', description: 'Manages members, API tokens, and notifications; views the audit log' },
  {
    role: 'developer',
    description: 'Creates, edits, rotates, and revokes API keys; views request details; closes connections',
  },
  { role: 'viewer', description: 'Views API keys, usage, errors, and logs' },
];
