import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { messageOf } from '../api.ts';
import { signOut } from '../auth.ts';
import { clearPlaygroundTokens } from '../playground-token.ts';
import { type Theme, themes, useTheme } from '../theme.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { useToast } from '../ui/toast.tsx';
import { useSession } from './session.tsx';

const icons: Readonly<Record<Theme, IconName>> = { system: 'system', light: 'sun', dark: 'moon' };
const names: Readonly<Record<Theme, string>> = {
  system: 'Theme: system',
  light: 'Theme: light',
  dark: 'Theme: dark',
};

export function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  return <IconButton icon={icons[theme]} label={names[theme]} onClick={() => setTheme(next)} />;
}

export function UserMenu() {
  const { user } = useSession();
  const client = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();

  const signOutAndLeave = async (): Promise<void> => {
    try {
      await signOut();
      client.clear();
      clearPlaygroundTokens();
      await navigate({ to: '/sign-in', search: {} });
    } catch (thrown) {
      toast(messageOf(thrown), 'bad');
    }
  };

  return (
    <div className="user">
      <Menu
        button={
          <>
            <span className="user-initial" aria-hidden="true">
              {user.name.slice(0, 1).toUpperCase()}
            </span>
            <span className="visually-hidden">Signed in as</span>
            <span className="user-name">{user.name}</span>
            <Icon name="up" size={12} />
          </>
        }
        buttonProps={{ kind: 'quiet', className: 'user-button' }}
        head={
          <>
            <strong>{user.email}</strong>
            {user.isOperator ? <span className="muted">Operator</span> : null}
          </>
        }
        items={[
          { label: 'Settings', onSelect: () => void navigate({ to: '/settings' }) },
          { label: 'Sign out', onSelect: () => void signOutAndLeave() },
        ]}
      />
      <ThemeSwitch />
    </div>
  );
}
