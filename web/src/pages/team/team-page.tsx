import { useState } from 'react';
import type { MemberRole } from '../../../../src/control/accounts/roles.ts';
import type { RouteOutput } from '../../../../src/control/api/contract/contract.ts';
import { useCall, useChange } from '../../queries.ts';
import { Page } from '../../shell/page.tsx';
import { type Session, useSession } from '../../shell/session.tsx';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { useChangeToasts } from '../../ui/toast.tsx';
import { Actor } from '../audit/audit-table.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { roleNames, roles } from './role-descriptions.ts';

type Team = RouteOutput<'GET /customers/{customer}/members'>;
type Member = Team['members'][number];
type Invitation = Team['invitations'][number];

export function TeamPage() {
  const { customer, can } = useSession();
  const team = useCall('GET /customers/{customer}/members', { path: { customer: customer.id } });
  const [isInviting, setIsInviting] = useState(false);

  return (
    <Page
      title="Team"
      question={`Members of “${customer.name}” and their roles.`}
      actions={
        can('admin') ? (
          <Button kind="primary" icon="plus" onClick={() => setIsInviting(true)}>
            Invite member
          </Button>
        ) : null
      }
    >
      <FormError problem={team.error} />
      {team.data === undefined ? (
        team.error === null && <Skeleton />
      ) : (
        <>
          <Members members={team.data.members} />
          {can('admin') ? <Invitations invitations={team.data.invitations} /> : null}
        </>
      )}
      <Panel title="Roles">
        <dl className="facts">
          {roles.map(({ role, description }) => (
            <div key={role} className="facts-row">
              <dt>{roleNames[role]}</dt>
              <dd>{description}</dd>
            </div>
          ))}
        </dl>
      </Panel>
      {isInviting ? <InviteDialog onClose={() => setIsInviting(false)} /> : null}
    </Page>
  );
}

const mayChange = ({ can }: Session, member: Member): boolean =>
  can('admin') && (member.role !== 'owner' || can('owner'));

function Members({ members }: { members: readonly Member[] }) {
  const session = useSession();
  const [leaving, setLeaving] = useState<Member | null>(null);
  return (
    <Panel title="Members">
      <Table
        caption="Members"
        rows={members}
        rowKey={({ userId }) => userId}
        csvName="solway-members"
        empty={<EmptyState title="No members yet">Invite the first member.</EmptyState>}
        columns={[
          {
            id: 'name',
            title: 'Name',
            sortBy: ({ name }) => name,
            csv: ({ name }) => name,
            cell: ({ name, email, userId }) => (
              <>
                <strong>{name}</strong> {userId === session.user.id ? <Chip>you</Chip> : null}
                <span className="table-second">{email}</span>
              </>
            ),
          },
          {
            id: 'role',
            title: 'Role',
            sortBy: ({ role }) => role,
            csv: ({ role }) => role,
            cell: (member) =>
              mayChange(session, member) ? (
                <RoleSelect member={member} />
              ) : (
                <span>{roleNames[member.role]}</span>
              ),
          },
          {
            id: 'second',
            title: 'Two-factor',
            wideOnly: true,
            sortBy: ({ twoFactor }) => Number(twoFactor),
            csv: ({ twoFactor }) => String(twoFactor),
            cell: ({ twoFactor }) => (twoFactor ? <Chip tone="good">On</Chip> : <Chip tone="warn">Off</Chip>),
          },
          {
            id: 'since',
            title: 'Joined (UTC)',
            wideOnly: true,
            sortBy: ({ since }) => since,
            csv: ({ since }) => new Date(since).toISOString(),
            cell: ({ since }) => <Time at={since} />,
          },
          {
            id: 'leave',
            title: 'Remove',
            hideTitle: true,
            align: 'end',
            cell: (member) => {
              const isSelf = member.userId === session.user.id;
              return mayChange(session, member) || isSelf ? (
                <Button size="s" kind="quiet" onClick={() => setLeaving(member)}>
                  {isSelf ? 'Leave' : 'Remove'}
                  <span className="visually-hidden"> {member.name}</span>
                </Button>
              ) : null;
            },
          },
        ]}
      />
      {leaving === null ? null : <LeaveDialog member={leaving} onClose={() => setLeaving(null)} />}
    </Panel>
  );
}

function RoleSelect({ member }: { member: Member }) {
  const { customer, can } = useSession();
  const toasts = useChangeToasts();
  const change = useChange('PATCH /customers/{customer}/members/{user}');
  return (
    <select
      className="select"
      aria-label={`Role for ${member.name}`}
      value={member.role}
      disabled={change.isPending}
      onChange={(event) =>
        change.mutate(
          {
            path: { customer: customer.id, user: member.userId },
            body: { role: event.target.value as MemberRole },
          },
          toasts(({ name, role }) => `${name} is now ${roleNames[role]}.`),
        )
      }
    >
      {roles
        .filter(({ role }) => role !== 'owner' || can('owner'))
        .map(({ role }) => (
          <option key={role} value={role}>
            {roleNames[role]}
          </option>
        ))}
    </select>
  );
}

function LeaveDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const { customer, user } = useSession();
  const remove = useChange('DELETE /customers/{customer}/members/{user}');
  const isSelf = member.userId === user.id;
  return (
    <ConfirmDialog
      title={isSelf ? `Leave ${customer.name}?` : `Remove ${member.name}?`}
      action={isSelf ? 'Leave' : 'Remove'}
      problem={remove.error}
      isBusy={remove.isPending}
      onClose={onClose}
      onConfirm={() =>
        remove.mutate({ path: { customer: customer.id, user: member.userId } }, { onSuccess: onClose })
      }
    >
      {isSelf ? 'You' : member.name} will lose access to {customer.name}. API keys keep working.
      {isSelf ? null : ' Rotate any keys they know.'}
    </ConfirmDialog>
  );
}

const inviteeOf = ({ email }: Invitation): string => (email === '' ? 'Anyone with the link' : email);
const roleOf = ({ role, isOperator }: Invitation): string => (isOperator ? 'Operator' : roleNames[role]);

function Invitations({ invitations }: { invitations: readonly Invitation[] }) {
  const { customer } = useSession();
  const toasts = useChangeToasts();
  const revoke = useChange('DELETE /customers/{customer}/invitations/{invitation}');
  return (
    <Panel title="Invitations">
      <Table
        caption="Invitations"
        rows={invitations}
        rowKey={({ id }) => id}
        empty={<p className="muted">No pending invitations.</p>}
        columns={[
          { id: 'email', title: 'Email', sortBy: inviteeOf, cell: inviteeOf },
          { id: 'role', title: 'Role', sortBy: roleOf, cell: roleOf },
          {
            id: 'by',
            title: 'Invited by',
            wideOnly: true,
            cell: ({ createdBy }) => <Actor actor={createdBy} />,
          },
          {
            id: 'until',
            title: 'Expires (UTC)',
            wideOnly: true,
            sortBy: ({ expiresAt }) => expiresAt,
            cell: ({ expiresAt }) => <Time at={expiresAt} />,
          },
          {
            id: 'back',
            title: 'Revoke',
            hideTitle: true,
            align: 'end',
            cell: (invitation) => (
              <Button
                size="s"
                kind="quiet"
                onClick={() =>
                  revoke.mutate(
                    { path: { customer: customer.id, invitation: invitation.id } },
                    toasts(`Invitation for ${inviteeOf(invitation)} revoked.`),
                  )
                }
              >
                Revoke<span className="visually-hidden"> invitation for {inviteeOf(invitation)}</span>
              </Button>
            ),
          },
        ]}
      />
    </Panel>
  );
}
