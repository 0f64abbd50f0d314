import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiProblem, call } from '../../api.ts';
import { useAttempt } from '../../attempt.ts';
import { useCall } from '../../queries.ts';
import { Button } from '../../ui/button.tsx';
import { FormError } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { SignUpForm } from './sign-up-form.tsx';
import { useUrlToken } from './url-token.ts';

export const SetupPage = () => <Invitation title="Set up Solway" isSetup />;

export const InvitePage = () => <Invitation title="Invitation" />;

function Invitation({ title, isSetup = false }: { title: string; isSetup?: boolean }) {
  const token = useUrlToken();
  const invitationQuery = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call('POST /invitations/preview', { body: { token } }),
    enabled: token !== '',
    retry: false,
  });
  const me = useCall('GET /me', {});
  const acceptInvitation = useAcceptOnce(token);

  const body = (): ReactNode => {
    if (token === '') return <p>This URL does not contain an invitation. Open the full link you received.</p>;
    if (isSetup && isOver(invitationQuery.error) && me.data !== undefined)
      return <UsedSetupLink needsSetup={me.data.service.needsSetup} />;
    if (invitationQuery.error !== null) return <FormError problem={invitationQuery.error} />;
    if (invitationQuery.data === undefined || me.data === undefined) return <Skeleton />;
    const { customerName, email, role, isOperator, expiresAt } = invitationQuery.data;
    return (
      <>
        <p>
          {isOperator
            ? `${me.data.user === null ? 'Create the operator account. It has' : 'Become an operator with'} full access to customers, nodes, plans, and API keys.`
            : `Join ${customerName} as ${/^[ao]/.test(role) ? 'an' : 'a'} ${role}.`}{' '}
          <span className="muted">
            This link works once and expires on <Time at={expiresAt} /> UTC.
          </span>
        </p>
        {me.data.user === null ? (
          <>
            <SignUpForm email={email} invitation={token} onDone={acceptInvitation} />
            {isOperator ? null : (
              <p>
                Already have an account? <Link to="/sign-in">Sign in</Link>, then open this link again.
              </p>
            )}
          </>
        ) : (
          <Join name={me.data.user.email} onJoin={acceptInvitation} />
        )}
      </>
    );
  };
  return <AuthLayout title={title}>{body()}</AuthLayout>;
}

const isOver = (problem: unknown): boolean =>
  problem instanceof ApiProblem && problem.code === 'INVITATION_OVER';

const UsedSetupLink = ({ needsSetup }: { needsSetup: boolean }) => (
  <>
    <FormError problem={new Error('This setup link has expired or was already used.')} />
    <p>
      {needsSetup ? null : (
        <>
          If you have an account, <Link to="/sign-in">sign in</Link>.{' '}
        </>
      )}
      To create a new link, run <code>solway operator invite</code> on the server.
    </p>
  </>
);

function useAcceptOnce(token: string): () => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    await call('POST /invitations/accept', { body: { token } });
    await client.resetQueries({ queryKey: ['GET /me', {}] });
    await navigate({ to: '/' });
  };
}

function Join({ name, onJoin }: { name: string; onJoin: () => Promise<void> }) {
  const { problem, isBusy, run } = useAttempt();
  return (
    <>
      <FormError problem={problem} />
      <Button kind="primary" busy={isBusy} onClick={() => run(onJoin)}>
        Join as {name}
      </Button>
    </>
  );
}
