import { useQuery, useQueryClient } from '@tanstack/react-query';
import { messageOf } from '../../api.ts';
import {
  currentSession,
  listSessions,
  revokeOtherSessions,
  revokeSession,
  type Session,
} from '../../auth.ts';
import { Button } from '../../ui/button.tsx';
import { Chip } from '../../ui/chip.tsx';
import { FormError } from '../../ui/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Ago } from '../../ui/time.tsx';
import { useToast } from '../../ui/toast.tsx';

const KEY = ['sessions'];

function browserOf(userAgent: string | null): string {
  const text = userAgent ?? '';
  const names = [
    ['Edg/', 'Edge'],
    ['OPR/', 'Opera'],
    ['Firefox/', 'Firefox'],
    ['Chrome/', 'Chrome'],
    ['Safari/', 'Safari'],
  ] as const;
  const systems = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS X', 'Linux'];
  const name = names.find(([mark]) => text.includes(mark))?.[1] ?? 'Unknown browser';
  const system = systems.find((one) => text.includes(one));
  return system === undefined ? name : `${name} on ${system}`;
}

export function SessionList() {
  const client = useQueryClient();
  const toast = useToast();
  const sessions = useQuery({ queryKey: KEY, queryFn: listSessions });
  const own = useQuery({ queryKey: ['this-session'], queryFn: currentSession });

  const end = async (work: () => Promise<unknown>, message: string): Promise<void> => {
    try {
      await work();
      await client.invalidateQueries({ queryKey: KEY });
      toast(message);
    } catch (thrown) {
      toast(messageOf(thrown), 'bad');
    }
  };
  const isOwn = ({ id }: Session): boolean => id === own.data?.id;
  return (
    <Panel
      title="Active sessions"
      aside={
        (sessions.data?.length ?? 0) > 1 ? (
          <Button size="s" onClick={() => void end(revokeOtherSessions, 'All other sessions signed out.')}>
            Sign out all others
          </Button>
        ) : null
      }
    >
      <FormError problem={sessions.error} />
      {sessions.data === undefined && sessions.error === null ? <Skeleton /> : null}
      <ul className="sessions">
        {sessions.data?.map((session) => (
          <li key={session.id}>
            <div>
              <strong>{browserOf(session.userAgent)}</strong>{' '}
              {isOwn(session) ? <Chip>This session</Chip> : null}
              <span className="table-second">
                Signed in <Ago at={Date.parse(session.createdAt)} />
                {session.ipAddress ? ` from ${session.ipAddress}` : ''}
              </span>
            </div>
            {isOwn(session) ? null : (
              <Button
                size="s"
                kind="quiet"
                onClick={() => void end(() => revokeSession(session.token), 'Session signed out.')}
              >
                Sign out<span className="visually-hidden"> {browserOf(session.userAgent)}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}
