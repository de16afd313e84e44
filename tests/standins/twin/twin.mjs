// The twin behind a small proxy that adds what discord.py needs and the twin lacks: the application route, the exact
// header `application/json`, bodies for `with_response`, multipart, threads with the id of their message. Everything listens on loopback only.
// Says one line of JSON when it is ready; ends when its input ends. `/act/<verb>` is what tests do and see.
import http from 'node:http'
import net from 'node:net'
import { ChannelType } from 'discord-api-types/v10'
import { DigitalDiscord } from 'discord-digital-twin'

const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (port, ...rest) {
  return typeof port === 'number' ? listen.call(this, port, '127.0.0.1', ...rest.filter((one) => typeof one === 'function')) : listen.call(this, port, ...rest)
}

const twin = new DigitalDiscord({
  guild: { name: 'home' },
  channels: [{ name: 'general', type: ChannelType.GuildText }],
  users: [{ username: 'ann' }],
})
await twin.start()
const room = (await twin.prisma.channel.findMany())[0].id
const ann = await twin.getFirstNonBotUserId()

const acts = {
  slash: ({ channel, name, options }) => twin.channel(channel).user(ann).runSlashCommand({ name, options }),
  click: ({ channel, message, id }) => twin.channel(channel).user(ann).clickButton({ messageId: message, customId: id }),
  submit: ({ channel, id, fields }) => twin.channel(channel).user(ann).submitModal({ customId: id, fields }),
  says: ({ channel, content }) => twin.channel(channel).user(ann).sendMessage({ content }),
  messages: ({ channel }) => twin.channel(channel).getMessages(),
  threads: ({ channel }) => twin.channel(channel).getThreads(),
  response: async ({ id }) => (await twin.channel(room).getInteractionResponse(id)) ?? {},
}

const read = async (request) => {
  const parts = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

const payload = async (request, body) => {
  const type = request.headers['content-type'] ?? ''
  if (!type.startsWith('multipart/')) return body
  const form = await new Response(body, { headers: { 'content-type': type } }).formData()
  return Buffer.from(form.get('payload_json'))
}

const answer = (response, status, value) => {
  if (status === 204) return response.writeHead(204).end()
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

const pass = async (request, body) => {
  const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' }
  const sent = ['GET', 'HEAD'].includes(request.method) ? undefined : await payload(request, body)
  const found = await fetch(`http://127.0.0.1:${twin.port}${request.url}`, { method: request.method, headers, body: sent?.length ? sent : undefined })
  const text = await found.text()
  return [text ? found.status : 204, text ? JSON.parse(text) : null]
}

// A thread that grows from a message has its id.
const grow = async (channel, message, { name }) => {
  const { guildId } = await twin.prisma.channel.findUniqueOrThrow({ where: { id: channel } })
  const thread = { id: message, guildId, type: ChannelType.PublicThread, name, parentId: channel, starterMessageId: message }
  const state = { ownerId: twin.botUserId, autoArchiveDuration: 1440, archiveTimestamp: new Date(), memberCount: 1 }
  await twin.prisma.channel.create({ data: { ...thread, ...state } })
  await twin.prisma.threadMember.create({ data: { channelId: message, userId: twin.botUserId } })
  const made = await twin.channel(message).getChannel()
  twin.server.gateway.broadcast('THREAD_CREATE', { ...made, newly_created: true })
  return made
}

const serve = async (request, response) => {
  const body = await read(request)
  const { pathname, searchParams } = new URL(request.url, 'http://loopback')
  if (pathname.startsWith('/act/')) {
    return answer(response, 200, (await acts[pathname.slice(5)](JSON.parse(body))) ?? null)
  }
  if (pathname === '/api/v10/oauth2/applications/@me') {
    const owner = { id: ann, username: 'ann', discriminator: '0', avatar: null }
    const about = { name: 'sayso', description: '', icon: null, bot_public: false, bot_require_code_grant: false }
    return answer(response, 200, { ...about, id: twin.botUserId, owner, verify_key: '', flags: 1 << 18 })
  }
  const from = pathname.match(/^\/api\/v10\/channels\/(\d+)\/messages\/(\d+)\/threads$/)
  if (from) return answer(response, 201, await grow(from[1], from[2], JSON.parse(body)))
  const [status, value] = await pass(request, body)
  if (pathname.endsWith('/callback') && status < 300 && searchParams.has('with_response')) {
    return answer(response, 200, value ?? { interaction: { id: pathname.split('/')[4], type: 2 } })
  }
  answer(response, status, value)
}

const proxy = http.createServer((request, response) => {
  serve(request, response).catch((error) => answer(response, 500, { code: 0, message: String(error) }))
})
proxy.listen(0, () => {
  const url = `http://127.0.0.1:${proxy.address().port}`
  console.log(JSON.stringify({ url, gateway: `${twin.gatewayUrl}`, token: twin.botToken, room, ann }))
})
process.stdin.on('end', () => process.exit(0)).resume()
