// VitePress' own theme with wider pages: the code of the documents has up to 120 columns.
import theme from 'vitepress/theme';
import './theme.css';

export default theme;
