// Talks with the emulator as Mattermost's web app talks with its server; prints what it saw as one line of JSON.
import clientModule from '@mattermost/client';
import WebSocket from 'ws';

const {Client4, WebSocketClient} = clientModule;
const [url, token, channelId] = process.argv.slice(2);

globalThis.WebSocket ??= WebSocket;
globalThis.CloseEvent ??= class CloseEvent extends Event {
    constructor(kind, init) {
        super(kind);
        Object.assign(this, init);
    }
};
console.log = (...words) => console.error(...words);

const client = new Client4();
client.setUrl(url);
client.setToken(token);
client.setIncludeCookies(false);

const heard = [];
let missed = 0;
const waiting = [];
const socket = new WebSocketClient({
    minWebSocketRetryTime: 100,
    reconnectJitterRange: 50,
    // Only with the header does a server resume a connection by its id.
    newWebSocketFn: (address) => new WebSocket(address, {headers: {Authorization: `Bearer ${token}`}}),
});
socket.addMissedMessageListener(() => {
    missed += 1;
});
socket.addMessageListener((message) => {
    if (message.event === 'posted') {
        heard.push(JSON.parse(message.data.post).message);
    }
    waiting.splice(0).forEach((check) => check());
});

function until(condition) {
    return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`did not come: ${condition}; heard ${heard}`)), 20000);
        const check = () => {
            if (condition()) {
                clearTimeout(timer);
                resolve();
            } else {
                waiting.push(check);
            }
        };
        check();
    });
}

async function statusOf(call) {
    try {
        await call();
        return 200;
    } catch (error) {
        return error.status_code;
    }
}

const me = await client.getMe();
let greeted = false;
socket.addMessageListener((message) => {
    greeted ||= message.event === 'hello';
});
socket.initialize(`${url.replace(/^http/, 'ws')}/api/v4/websocket`);
await until(() => greeted);

const asked = await client.createPost({channel_id: channelId, message: '@helperbot 연차는?'});
await until(() => heard.includes('끊긴 동안'));
const thread = await client.getPostThread(asked.id);
const posts = Object.values(thread.posts).sort((a, b) => a.create_at - b.create_at);
await client.addReaction(me.id, posts[1].id, '+1');
await client.patchPost({id: asked.id, message: '@helperbot 연차는?'});

const stranger = new Client4();
stranger.setUrl(url);
stranger.setToken('badtoken');
const refused = [
    await statusOf(() => client.createPost({channel_id: channelId, message: '가'.repeat(16384)})),
    await statusOf(() => stranger.getMe()),
    await statusOf(() => client.getPost('x'.repeat(26))),
];
socket.close();
process.stdout.write(JSON.stringify({me: me.username, thread: posts.map((post) => post.message), heard, missed, refused}) + '\n');
process.exit(0);
