// From a conversation to the prompt that a model goes on with.

import 'errors.dart';

/// Who says a message.
enum Role {
  /// Tells the assistant how to answer.
  system('s'),

  /// Asks.
  user('u'),

  /// The model.
  assistant('a');

  const Role(this._letter);

  final String _letter;
}

/// A message of a conversation.
final class Message {
  /// A message with the `text` that `role` says.
  const Message(this.role, this.text);

  /// Who says it.
  final Role role;

  /// Its words.
  final String text;

  @override
  String toString() => '${role.name}: $text';
}

/// Pieces of a prompt, one for each message and one for the end, by the roles near it.
final class ChatTemplate {
  /// Made by generated files.
  const ChatTemplate({
    required this.before,
    required this.after,
    required this.hasFirst,
    required this.needsText,
    required this.refused,
    required this.pieces,
    required this.errors,
  });

  /// How many roles before that of the message are in its key.
  final int before;

  /// How many roles after that of the message are in its key.
  final int after;

  /// Whether a key begins with the role of the first message.
  final bool hasFirst;

  /// Whether each message needs a character that is not blank.
  final bool needsText;

  /// Texts that no message may have.
  final List<String> refused;

  /// Texts and, at each odd place, a text of a message: its own, `m`, or that of the first, `f`, trimmed as marks say.
  final Map<String, List<String>> pieces;

  /// Errors of the template about roles, by key.
  final Map<String, String> errors;

  /// The prompt that asks for the next message.
  ///
  /// Throws a ModelException `badInput` for a conversation that the template does not take.
  String prompt(List<Message> messages) {
    if (messages.isEmpty) throw _refused('a conversation needs a message');
    for (final (index, message) in messages.indexed) {
      _check(message.text, index + 1);
    }
    final roles = messages.map((each) => each.role._letter).join();
    final padded = '^' * before + roles + r'$' * (after + 1);
    final prompt = StringBuffer();
    for (var place = 0; place <= messages.length; place += 1) {
      final key = (hasFirst ? roles[0] : '') + padded.substring(place, place + before + 1 + after);
      final piece = pieces[key];
      if (piece == null) {
        throw _refused(errors[key] ?? 'the chat template does not take these roles in this order');
      }
      for (final (index, part) in piece.indexed) {
        final source = part.startsWith('f') ? 0 : place;
        prompt.write(index.isEven ? part : _trimmed(messages[source].text, part));
      }
    }
    return prompt.toString();
  }

  void _check(String text, int number) {
    if (needsText && _trimmed(text, '<').isEmpty) throw _refused('message $number has no text');
    for (final each in refused) {
      if (text.contains(each)) throw _refused("message $number has '$each', which the chat template acts on");
    }
  }
}

const String _blanks =
    '\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680'
    '\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/// `text` without what the marks of a slot say: blanks for `<` and `>`, newlines for `[` and `]`.
String _trimmed(String text, String slot) {
  final first = slot.contains('<') ? _blanks : (slot.contains('[') ? '\n' : '');
  final last = slot.contains('>') ? _blanks : (slot.contains(']') ? '\n' : '');
  var start = 0;
  var end = text.length;
  while (start < end && first.contains(text[start])) {
    start += 1;
  }
  while (start < end && last.contains(text[end - 1])) {
    end -= 1;
  }
  return text.substring(start, end);
}

ModelException _refused(String words) => ModelException(ModelErrorCode.badInput, words);
