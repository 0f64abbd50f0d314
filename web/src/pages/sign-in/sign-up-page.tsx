import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCall } from '../../queries.ts';
import { AuthLayout } from './auth-layout.tsx';
import { SignUpForm } from './sign-up-form.tsx';

export function SignUpPage() {
  const me = useCall('GET /me', {});
  const client = useQueryClient();
  const navigate = useNavigate();

  return (
    <AuthLayout title="Sign up">
      {me.data?.service.signUp === 'invited' ? (
        <p>
          Sign-up is by invitation only. Get a link from an owner or admin of your team, or{' '}
          <Link to="/sign-in">sign in</Link>.
        </p>
      ) : (
        <>
          <SignUpForm
            email=""
            onDone={async () => {
              await client.resetQueries();
              await navigate({ to: '/' });
            }}
          />
          <p>
            Already have an account? <Link to="/sign-in">Sign in</Link>
          </p>
        </>
      )}
    </AuthLayout>
  );
}
